package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/kitebase/kitebase-mcp/server"
)

type configCommand struct {
	ClaudeCode    claudeCodeCommand    `cmd:"" help:"The command that adds the server to Claude Code."`
	ClaudeDesktop claudeDesktopCommand `cmd:"" help:"The entry for claude_desktop_config.json."`
}

// hostFlags are what a host has to tell the server. The token stays a placeholder: a secret printed is a secret in a
// scroll-back buffer.
type hostFlags struct {
	URL string `name:"url" placeholder:"URL" help:"Base URL of your Kitebase. Default: the embedded fake."`
}

// check refuses a URL with which the server would not start.
func (h hostFlags) check() error {
	if err := named(server.Config{URL: h.URL}.Validate()); err != nil {
		return usageError{err}
	}
	return nil
}

func (h hostFlags) env() map[string]string {
	if h.URL == "" {
		return nil
	}
	return map[string]string{"KITEBASE_URL": h.URL, "KITEBASE_TOKEN": "YOUR-TOKEN"}
}

type claudeCodeCommand struct{ hostFlags }

// Run prints one shell command.
func (c *claudeCodeCommand) Run(_ context.Context, std streams) error {
	if err := c.check(); err != nil {
		return err
	}
	binary, err := executable()
	if err != nil {
		return err
	}
	words := []string{"claude", "mcp", "add", "kitebase", "--scope", "user"}
	for _, name := range []string{"KITEBASE_URL", "KITEBASE_TOKEN"} {
		if value, ok := c.env()[name]; ok {
			words = append(words, "--env", quote(runtime.GOOS, name+"="+value))
		}
	}
	_, err = fmt.Fprintln(std.out, strings.Join(append(words, "--", quote(runtime.GOOS, binary)), " "))
	return err
}

type claudeDesktopCommand struct{ hostFlags }

// Run prints one JSON document.
func (c *claudeDesktopCommand) Run(_ context.Context, std streams) error {
	if err := c.check(); err != nil {
		return err
	}
	binary, err := executable()
	if err != nil {
		return err
	}
	entry := map[string]any{"command": binary}
	if env := c.env(); env != nil {
		entry["env"] = env
	}
	encoder := json.NewEncoder(std.out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(map[string]any{"mcpServers": map[string]any{"kitebase": entry}})
}

// executable returns the absolute path of this program: hosts start it from other directories, without a PATH.
func executable() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("finding the path of this program: %w", err)
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return path, nil
}

// quote makes a word safe for the shell of a system: on Windows for both of them.
func quote(system, word string) string {
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		return !strings.ContainsRune("-_=./:@%+,", r) && !('0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z')
	}) {
		return word
	}
	if system == "windows" {
		return `"` + word + `"`
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
