package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestGuide holds docs/agent-loop.md to the program: its table has each field of agent.Config with the default that the
// field's comment states, it names each way in which a run ends, and its experiments print what it says they print.
func TestGuide(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "docs", "agent-loop.md"))
	require.NoError(t, err)
	guide := string(text)

	t.Run("fields", func(t *testing.T) {
		fields := 0
		ast.Inspect(parse(t, "config.go"), func(n ast.Node) bool {
			field, ok := n.(*ast.Field)
			if ok && field.Doc != nil && strings.Contains(field.Doc.Text(), "Default ") && field.Names[0].Name != "OnEvent" {
				fields++
				comment := strings.Join(strings.Fields(field.Doc.Text()), " ")
				value := strings.TrimSuffix(comment[strings.LastIndex(comment, "Default ")+len("Default "):], ".")
				row := "| `" + field.Names[0].Name + "` | " + value + " | "
				require.True(t, strings.Contains(guide, "\n"+row), "%s is missing", row)
			}
			return true
		})
		require.Equal(t, fields, strings.Count(guide, "\n| `"), "the table has a field that does not exist")
	})
	t.Run("reasons", func(t *testing.T) {
		reasons := 0
		ast.Inspect(parse(t, "report.go"), func(n ast.Node) bool {
			constant, ok := n.(*ast.ValueSpec)
			if ok && len(constant.Values) == 1 {
				reasons++
				value := "`" + strings.Trim(constant.Values[0].(*ast.BasicLit).Value, `"`) + "`"
				require.True(t, strings.Contains(guide, value), "%s is missing", value)
			}
			return true
		})
		require.Greater(t, reasons, 10)
	})
	blocks := regexp.MustCompile("(?s)```\n\\$ go run ./client_example ([^\n]*)\n(.*?)```").FindAllStringSubmatch(guide, -1)
	require.Len(t, blocks, 4)
	for _, block := range blocks {
		t.Run(block[1], func(t *testing.T) {
			got := runWith(t, append([]string{"-server", server}, strings.Fields(block[1])...)...)
			require.Regexp(t, pattern(block[2]), got.stdout)
		})
	}
}

func parse(t *testing.T, file string) *ast.File {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join("agent", file), nil, parser.ParseComments)
	require.NoError(t, err)
	return parsed
}

// pattern matches what a block of the guide shows: … stands for anything, and the length of a wait is a matter of chance.
func pattern(block string) string {
	block = strings.ReplaceAll(regexp.QuoteMeta(block), "…", ".*")
	return "(?s)^" + regexp.MustCompile(`Retrying in [0-9.\\]+s`).ReplaceAllString(block, `Retrying in [0-9.]+s`) + "$"
}
