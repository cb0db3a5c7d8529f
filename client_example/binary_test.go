package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestServerIsBuiltFromTheSource(t *testing.T) {
	if testing.Short() {
		t.Skip("links the server")
	}
	cache := t.TempDir()
	env := append(os.Environ(), "GOCACHE="+goCache(t))
	t.Setenv("XDG_CACHE_HOME", cache)
	t.Setenv("HOME", cache) // where macOS has it

	var stderr bytes.Buffer
	path, remove, err := findServer(t.Context(), "", env, &stderr)
	require.NoError(t, err)
	require.Equal(t, "building the server (first time: a minute or so)\n", stderr.String())
	require.FileExists(t, path)
	remove()
	require.FileExists(t, path, "it is kept for the next run")

	// A binary that is younger than the source and yet not made from it is replaced: no run must see a stale server.
	other, err := os.ReadFile(program)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, other, 0o755))
	stderr.Reset()
	path, _, err = findServer(t.Context(), "", env, &stderr)
	require.NoError(t, err)
	require.Empty(t, stderr.String(), "said the first time only")
	require.NoError(t, exec.Command(path, "version").Run())
}

func TestServerIsBuiltWithoutACacheDirectory(t *testing.T) {
	if testing.Short() {
		t.Skip("links the server")
	}
	env := append(os.Environ(), "GOCACHE="+goCache(t))
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("HOME", "")
	path, remove, err := findServer(t.Context(), "", env, t.Output())
	require.NoError(t, err)
	require.FileExists(t, path)
	remove()
	require.NoFileExists(t, path, "nothing stays behind")
}

func TestServerThatDoesNotBuild(t *testing.T) {
	env := append(os.Environ(), "GOFLAGS=-gcflags=-no-such-flag")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	_, _, err := findServer(t.Context(), "", env, t.Output())
	require.ErrorContains(t, err, "build the server: ")
}

func goCache(t *testing.T) string {
	t.Helper()
	output, err := exec.Command("go", "env", "GOCACHE").Output()
	require.NoError(t, err)
	return strings.TrimSpace(string(output))
}

func TestBuiltProgramAnywhere(t *testing.T) {
	dir := t.TempDir()
	installed := filepath.Join(dir, "client_example")
	require.NoError(t, os.Link(program, installed))
	start := func(path string, args ...string) *exec.Cmd {
		cmd := exec.Command(installed, args...)
		cmd.Dir = t.TempDir()
		cmd.Env = []string{"PATH=" + path}
		return cmd
	}
	t.Run("says what is missing", func(t *testing.T) {
		output, err := start(t.TempDir(), "happy").CombinedOutput()
		require.Error(t, err)
		require.Equal(t, "there is no server to run: start this program inside its source tree, put kitebase-mcp beside it or on PATH, or name it with -server PATH\n", string(output))
	})
	t.Run("finds the server on PATH", func(t *testing.T) {
		output, err := start(filepath.Dir(server), "happy").CombinedOutput()
		require.NoError(t, err, "%s", output)
		require.Contains(t, string(output), "DONE (end_turn) after 4 step(s), 1 email(s) sent\n")
	})
	t.Run("finds the server beside it", func(t *testing.T) {
		require.NoError(t, os.Link(server, filepath.Join(dir, serverName())))
		output, err := start(t.TempDir(), "happy").CombinedOutput()
		require.NoError(t, err, "%s", output)
		require.Contains(t, string(output), "DONE (end_turn) after 4 step(s), 1 email(s) sent\n")
	})
	t.Run("exits with 3 and without an error when the run was handed over", func(t *testing.T) {
		cmd := start(filepath.Dir(server), "loop")
		output, err := cmd.CombinedOutput()
		require.Error(t, err)
		require.Equal(t, 3, cmd.ProcessState.ExitCode())
		require.True(t, strings.HasSuffix(string(output), "\nFAILED (stuck) after 4 step(s), 0 email(s) sent\n"), "%s", output)
	})
	t.Run("exits with 0 when several ended as listed", func(t *testing.T) {
		output, err := start(filepath.Dir(server), "loop", "refusal").CombinedOutput()
		require.NoError(t, err, "%s", output)
	})
	t.Run("exits with 2 for a scenario that it does not know", func(t *testing.T) {
		var stderr bytes.Buffer
		cmd := start("", "hapy")
		cmd.Stderr = &stderr
		require.Error(t, cmd.Run())
		require.Equal(t, 2, cmd.ProcessState.ExitCode())
		require.Contains(t, stderr.String(), "  duplicate          ")
	})
}
