package main

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/tools"
)

// This file is in package main, unlike its neighbours, because the command line is described by types of that package.

const root = "../../"

// TestREADME holds README.md to the program: what it says of tools, commands, settings and dependencies is generated
// between markers, which -update fills, and what else it names must exist.
func TestREADME(t *testing.T) {
	t.Run("tables", func(t *testing.T) {
		text := readText(t, root+"README.md")
		app := commandLine(t)
		for section, want := range map[string]string{
			"tools": toolTable(), "commands": commandTable(app), "settings": settingTable(app), "dependencies": dependencyTable(t, text),
		} {
			before, have, after := cut(t, text, section)
			if updating() {
				text = before + want + after
				continue
			}
			require.Equal(t, want, have, "rewrite the tables with: go test ./cmd/kitebase-mcp -run README -update")
		}
		if updating() {
			require.NoError(t, os.WriteFile(root+"README.md", []byte(text), 0o644))
		}
	})
	t.Run("flags", func(t *testing.T) {
		known := flagNames(commandLine(t))
		known = append(known, "scope", "env", "header", "allowedTools") // of claude
		named := regexp.MustCompile("(?m)(?:^|[\\s(`])--([a-zA-Z][a-zA-Z-]*)").FindAllStringSubmatch(readText(t, root+"README.md"), -1)
		require.NotEmpty(t, named)
		for _, match := range named {
			require.True(t, slices.Contains(known, match[1]) || slices.Contains(known, strings.TrimPrefix(match[1], "no-")),
				"no command has the flag --%s", match[1])
		}
	})
	t.Run("variables", func(t *testing.T) {
		named := regexp.MustCompile(`\bKITEBASE_[A-Z_]+\b`).FindAllString(readText(t, root+"README.md"), -1)
		require.NotEmpty(t, named)
		for i, name := range named {
			named[i] = name + "=x"
		}
		require.Empty(t, newEnvironment(named).unknown(commandLine(t)), "these variables are no settings")
	})
	t.Run("command lines", func(t *testing.T) {
		lines := regexp.MustCompile(`(?m)^(?:\$ )?kitebase-mcp((?: [^<>|&#\n]*)?)(?:[<>|&#].*)?$`).FindAllStringSubmatch(readText(t, root+"README.md"), -1)
		require.NotEmpty(t, lines)
		for _, match := range lines {
			err := parse(strings.Fields(match[1]), nil, streams{out: io.Discard, err: io.Discard}, func(command) error { return nil })
			require.NoError(t, err, "kitebase-mcp%s", match[1])
		}
	})
	t.Run("links", func(t *testing.T) {
		links := 0
		for _, file := range documents(t) {
			for _, match := range regexp.MustCompile(`\]\(([^)#]+)[^)]*\)`).FindAllStringSubmatch(readText(t, file), -1) {
				if strings.Contains(match[1], "://") {
					continue
				}
				links++
				require.FileExists(t, filepath.Join(filepath.Dir(file), match[1]), "a link in %s", file)
			}
		}
		require.NotZero(t, links)
	})
}

// updating reports whether the tests of this binary were asked to rewrite their golden files. The flag is defined in
// package main_test, which this package cannot import.
func updating() bool { return flag.Lookup("update").Value.String() == "true" }

func readText(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(text)
}

// documents returns what people read: README.md, CHANGELOG.md and all of docs.
func documents(t *testing.T) []string {
	t.Helper()
	files := []string{root + "README.md", root + "CHANGELOG.md"}
	if _, err := os.Stat(root + "docs"); err != nil {
		return files
	}
	require.NoError(t, filepath.WalkDir(root+"docs", func(name string, _ fs.DirEntry, err error) error {
		if filepath.Ext(name) == ".md" {
			files = append(files, name)
		}
		return err
	}))
	return files
}

// cut returns what stands before, between and behind the markers of a section; the markers are outside.
func cut(t *testing.T, text, section string) (before, between, after string) {
	t.Helper()
	begin, end := "<!-- "+section+":begin -->\n", "<!-- "+section+":end -->"
	before, rest, found := strings.Cut(text, begin)
	require.True(t, found, "README.md has no %s", begin)
	between, after, found = strings.Cut(rest, end)
	require.True(t, found, "README.md has no %s", end)
	return before + begin, between, end + after
}

// table returns a Markdown table; the first row is the head.
func table(rows ...[]string) string {
	var text strings.Builder
	for i, row := range rows {
		for _, cell := range row {
			fmt.Fprintf(&text, "| %s ", strings.ReplaceAll(cell, "|", `\|`))
		}
		text.WriteString("|\n")
		if i == 0 {
			text.WriteString(strings.Repeat("|---", len(row)) + "|\n")
		}
	}
	return text.String()
}

func code(text string) string { return "`" + text + "`" }

func toolTable() string {
	rows := [][]string{{"tool", "arguments", "what a call does", "effect", "hints to the host"}}
	for _, tool := range tools.Table(nil) {
		var arguments, hints []string
		for _, argument := range tool.Arguments {
			if argument.Optional {
				arguments = append(arguments, code(argument.Name)+" (optional)")
			} else {
				arguments = append(arguments, code(argument.Name))
			}
		}
		told := tool.MCP().Annotations
		for _, hint := range []struct {
			name string
			set  *bool
		}{
			{"read-only", told.ReadOnlyHint}, {"idempotent", told.IdempotentHint},
			{"destructive", told.DestructiveHint}, {"open world", told.OpenWorldHint},
		} {
			if *hint.set {
				hints = append(hints, hint.name)
			}
		}
		does, _, _ := strings.Cut(tool.Description, ". ")
		rows = append(rows, []string{code(tool.Name), strings.Join(arguments, ", "), does, tool.Effect.String(), strings.Join(hints, ", ")})
	}
	return table(rows...)
}

// commandLine returns kong's model of the program.
func commandLine(t *testing.T) *kong.Application {
	t.Helper()
	parser, err := kong.New(&cli{}, kong.Name("kitebase-mcp"))
	require.NoError(t, err)
	return parser.Model
}

func commandTable(app *kong.Application) string {
	rows := [][]string{{"command", ""}}
	for _, leaf := range app.Leaves(true) {
		rows = append(rows, []string{code(app.Name + " " + strings.TrimSuffix(leaf.Summary(), " [flags]")), leaf.Help})
	}
	return table(rows...)
}

func settingTable(app *kong.Application) string {
	rows := [][]string{{"flag", "variable", "default", "meaning"}}
	for _, leaf := range app.Leaves(true) {
		if leaf.Name != "serve" {
			continue
		}
		for _, setting := range leaf.Flags {
			meaning, otherwise, _ := strings.Cut(setting.Help, " Default: ")
			value := cmp.Or(setting.Default, strings.TrimSuffix(otherwise, "."), "none")
			rows = append(rows, []string{code("--" + setting.Name), code(envName(setting.Name)), value, meaning})
		}
	}
	return table(rows...)
}

// flagNames returns the names of the flags of all commands.
func flagNames(app *kong.Application) []string {
	names := []string{app.HelpFlag.Name}
	for _, leaf := range app.Leaves(true) {
		for _, each := range leaf.Flags {
			names = append(names, each.Name)
		}
	}
	return names
}
