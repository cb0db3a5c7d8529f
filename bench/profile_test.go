package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// idle is a client whose server answers nothing.
type idle struct{ loads int }

func (i *idle) greet() error { return nil }

func (i *idle) call() error { return nil }

func (i *idle) load(int, time.Duration) (tempo, error) {
	i.loads++
	return tempo{}, nil
}

// usePerf puts a program of that text in the place of perf. It is given its arguments.
func usePerf(t *testing.T, text string) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "perf"), []byte("#!/bin/sh\n"+text+"\n"), 0o755))
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
}

// TestTryPerf has found out before the rounds what cannot be recorded: a directory that was not there once lost the table
// after the last one.
func TestTryPerf(t *testing.T) {
	usePerf(t, `[ "$1 $6" = "record -o" ] && echo recorded >"$7"`)
	dir := filepath.Join(t.TempDir(), "not", "there")
	require.NoError(t, tryPerf(dir))
	left, err := os.ReadDir(dir)
	require.NoError(t, err, "it is made")
	require.Empty(t, left)

	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.ErrorContains(t, tryPerf(file), "-perf: mkdir "+file+": not a directory")

	usePerf(t, `echo "No permission to enable cycles event." >&2; exit 255`)
	require.EqualError(t, tryPerf(dir), "-perf: perf cannot record into "+dir+": exit status 255: No permission to enable cycles event.")

	t.Setenv("PATH", t.TempDir())
	require.ErrorContains(t, tryPerf(dir), `"perf": executable file not found`)
}

// TestProfileFails guards the figures of all rounds, which were once lost with the first profile that could not be recorded,
// and the server, which was blamed for it.
func TestProfileFails(t *testing.T) {
	usePerf(t, "echo the disk is full >&2; exit 255")
	server := exec.Command("sleep", "60")
	require.NoError(t, server.Start())
	defer func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	}()
	client := &idle{}
	r := &round{settings: settings{perf: t.TempDir()}}
	require.NoError(t, r.profile(&entrant{contestant: contestant{name: bare, transport: "http"}, process: &process{cmd: server}, client: client}))
	require.EqualError(t, r.unprofiled, "no profile of bare mcp-go on http: perf: exit status 255: the disk is full")
	require.Equal(t, 1, client.loads)
}
