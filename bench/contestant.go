package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// bare is the contestant that the others are compared with.
const (
	ours       = "kitebase-mcp"
	bare       = "bare mcp-go"
	official   = "official Go SDK"
	typescript = "TypeScript SDK"
	noServer   = "no server in between"
)

// contestant is one server on one transport.
type contestant struct {
	name      string
	transport string // stdio or http
	// start returns the command that serves Kitebase at url, on addr if the transport is http.
	start func(url, addr string) *exec.Cmd
}

// workshop has the programs that were built, and what they write.
type workshop struct {
	dir     string
	ledgers int
	skipped []string // who cannot take part, and why
}

// contestants builds everybody, the one to compare with first.
func (w *workshop) contestants(ctx context.Context) ([]contestant, error) {
	for program, from := range map[string][2]string{
		"kitebase-mcp": {"..", "./cmd/kitebase-mcp"}, "unguarded": {".", "./unguarded"}, "official": {".", "./official"},
	} {
		build := exec.CommandContext(ctx, "go", "build", "-o", w.program(program), from[1])
		build.Dir = from[0]
		build.Env = append(os.Environ(), "CGO_ENABLED=0") // as it is released
		if said, err := build.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("building %s: %w: %s", program, err, said)
		}
	}
	all := []contestant{
		{bare, "stdio", func(url, _ string) *exec.Cmd { return plainly(url, w.program("unguarded")) }},
		{ours, "stdio", func(url, _ string) *exec.Cmd { return w.guarded(url, "--transport", "stdio") }},
		{official, "stdio", func(url, _ string) *exec.Cmd { return plainly(url, w.program("official")) }},
		{bare, "http", func(url, addr string) *exec.Cmd { return plainly(url, w.program("unguarded"), "-http", addr) }},
		{ours, "http", func(url, addr string) *exec.Cmd { return w.guarded(url, "--transport", "http", "--addr", addr) }},
	}
	if err := install(ctx); err != nil {
		w.skipped = append(w.skipped, typescript+": "+err.Error())
		return all, nil
	}
	return append(all, contestant{typescript, "stdio", func(url, _ string) *exec.Cmd {
		return plainly(url, "node", "typescript/server.mjs")
	}}), nil
}

func (w *workshop) program(name string) string { return filepath.Join(w.dir, name) }

// guarded is this server as it comes, with its ledger in a file that does not exist yet.
func (w *workshop) guarded(url string, args ...string) *exec.Cmd {
	w.ledgers++
	ledger := filepath.Join(w.dir, fmt.Sprintf("ledger-%d.db", w.ledgers))
	return plainly(url, w.program("kitebase-mcp"), append(args, "--ledger", ledger)...)
}

// plainly is a command in an environment that has no other settings.
func plainly(url, program string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "KITEBASE_URL=" + url, "KITEBASE_TOKEN=bench"}
	return cmd
}

// install fetches the TypeScript SDK unless it is there. The error says why the SDK cannot take part.
func install(ctx context.Context) error {
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("%s is not installed", program)
		}
	}
	const lock, installed = "typescript/package-lock.json", "typescript/node_modules/installed-lock.json"
	wanted, err := os.ReadFile(lock)
	if err != nil {
		return err
	}
	if present, err := os.ReadFile(installed); err == nil && string(present) == string(wanted) {
		return nil
	}
	npm := exec.CommandContext(ctx, "npm", "ci", "--loglevel=error", "--no-audit", "--no-fund")
	npm.Dir = "typescript"
	if said, err := npm.CombinedOutput(); err != nil {
		return fmt.Errorf("npm ci: %w: %s", err, strings.TrimSpace(string(said)))
	}
	return os.WriteFile(installed, wanted, 0o644)
}
