package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// serverPackage is what is built when the source is at hand.
const serverPackage = "github.com/kitebase/kitebase-mcp/cmd/kitebase-mcp"

// findServer returns the path of the server: the given one; else one that is built from the source that the working
// directory belongs to; else a kitebase-mcp beside this program or on PATH. The function that comes with it removes what
// was made only for this run.
func findServer(ctx context.Context, given string, env []string, stderr io.Writer) (path string, remove func(), err error) {
	keep := func() {}
	if given != "" {
		path, err := exec.LookPath(given)
		if err != nil {
			return "", nil, fmt.Errorf("find the server of -server: %w", err)
		}
		return path, keep, nil
	}
	if hasSource(ctx, env) {
		return buildServer(ctx, env, stderr)
	}
	if self, err := os.Executable(); err == nil {
		if path, err := exec.LookPath(filepath.Join(filepath.Dir(self), serverName())); err == nil {
			return path, keep, nil
		}
	}
	if path, err := exec.LookPath(serverName()); err == nil {
		return path, keep, nil
	}
	return "", nil, errors.New("there is no server to run: start this program inside its source tree, put kitebase-mcp beside it or on PATH, or name it with -server PATH")
}

func serverName() string {
	if runtime.GOOS == "windows" {
		return "kitebase-mcp.exe"
	}
	return "kitebase-mcp"
}

// hasSource tells whether the server can be built here.
func hasSource(ctx context.Context, env []string) bool {
	list := exec.CommandContext(ctx, "go", "list", serverPackage)
	list.Env = env
	return list.Run() == nil
}

// buildServer has the go command decide whether the binary of the last run is still good: it knows best, and a stale
// server would make every transcript a lie.
func buildServer(ctx context.Context, env []string, stderr io.Writer) (path string, remove func(), err error) {
	dir, remove, err := buildDirectory()
	if err != nil {
		return "", nil, fmt.Errorf("find a place to build the server in: %w", err)
	}
	path = filepath.Join(dir, serverName())
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		fmt.Fprintln(stderr, "building the server (first time: a minute or so)")
	}
	build := exec.CommandContext(ctx, "go", "build", "-o", path, serverPackage)
	// On the same file system the new binary is renamed into place, so that a run beside this one never starts half of it.
	build.Env = append(env[:len(env):len(env)], "GOTMPDIR="+dir)
	if output, err := build.CombinedOutput(); err != nil {
		remove()
		return "", nil, fmt.Errorf("build the server: %w\n%s", err, strings.TrimSpace(string(output)))
	}
	return path, remove, nil
}

// buildDirectory returns a directory of this program in the user's cache, or one for this run alone if there is none.
func buildDirectory() (dir string, remove func(), err error) {
	if cache, err := os.UserCacheDir(); err == nil {
		dir = filepath.Join(cache, "kitebase-mcp", "client_example")
		if os.MkdirAll(dir, 0o700) == nil {
			return dir, func() {}, nil
		}
	}
	dir, err = os.MkdirTemp("", "kitebase-mcp-")
	return dir, func() { _ = os.RemoveAll(dir) }, err
}
