//go:build unix

package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInterruptLeavesNoServerBehind interrupts the program while its server, which never answers, is being asked for its
// tools. (The server keeps its stdout open as another file; closing it would be a goodbye.)
func TestInterruptLeavesNoServerBehind(t *testing.T) {
	silent := filepath.Join(t.TempDir(), "silent")
	require.NoError(t, os.WriteFile(silent, []byte("#!/bin/sh\necho $$ >&2\nexec /bin/cat 3>&1 >/dev/null\n"), 0o755))
	cmd := exec.Command(program, "-v", "-server", silent, "happy")
	stderr, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())

	log := bufio.NewReader(stderr)
	line, err := log.ReadString('\n')
	require.NoError(t, err)
	child, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(line, "    | ")))
	require.NoError(t, err, "the first line of the server's log is its process id: %q", line)
	require.NoError(t, syscall.Kill(child, 0), "it is running")

	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	rest, err := log.ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, rest, "scenario happy: start the server")
	require.Error(t, cmd.Wait())
	require.Equal(t, 1, cmd.ProcessState.ExitCode())
	require.ErrorIs(t, syscall.Kill(child, 0), syscall.ESRCH, "process %d was left behind", child)
}
