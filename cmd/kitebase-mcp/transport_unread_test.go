package main_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/fakeapi"
)

// awaitAll waits until n answers have come, whatever their ids.
func (c *child) awaitAll(n int) {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.answers) < n {
		require.False(c.t, c.closed, "the server ended after %d answers of %d", len(c.answers), n)
		c.changed.Wait()
	}
}

// serveUnread is serve for a host that does not read stderr, whose end of the pipe it returns.
func (s start) serveUnread(t *testing.T) (*child, *os.File) {
	t.Helper()
	ours, theirs, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, ours.Close()) })
	c := &child{t: t, cmd: s.command(t)}
	c.changed = sync.NewCond(&c.mu)
	c.cmd.Stderr = theirs
	c.stdin, err = c.cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := c.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.cmd.Start())
	require.NoError(t, theirs.Close())
	go c.read(stdout)
	t.Cleanup(c.end)
	return c, ours
}

// TestUnreadStderr: hosts let the pipe of stderr fill, and a server that logged into it answered no more.
func TestUnreadStderr(t *testing.T) {
	t.Parallel()
	t.Run("3,000 calls are answered", func(t *testing.T) {
		t.Parallel()
		const calls, atOnce = 3000, 50 // no more at once than the tool takes
		server, stderr := start{args: []string{"--log-level=debug"}}.serveUnread(t)
		for sent := 0; sent < calls; {
			for range atOnce {
				server.send("get_ticket", ticket142)
				sent++
			}
			server.awaitAll(sent)
		}
		server.end()
		for _, a := range server.received() {
			require.False(t, a.result(t).IsError)
		}
		log, err := io.ReadAll(stderr)
		require.NoError(t, err)
		logged := bytes.Count(log, []byte(`"msg":"call",`))
		require.NotZero(t, logged)
		require.Less(t, logged, calls, "the pipe was never full, so nothing was tried")
	})
	t.Run("what was dropped is told when it is read again", func(t *testing.T) {
		t.Parallel()
		const refused = 15_000 // each is logged: together more than the pipe and the queue hold
		server, stderr := start{args: []string{"--log-level=debug"}}.serveUnread(t)
		server.write(strings.Repeat("no JSON\n", refused))
		server.awaitAll(refused)
		require.False(t, server.call("get_ticket", ticket142).IsError, "the log is full")

		log := bufio.NewReader(stderr)
		for line := ""; !strings.Contains(line, "log lines were dropped"); {
			var err error
			line, err = log.ReadString('\n')
			require.NoError(t, err)
			require.NotContains(t, line, `"msg":"call",`, "a line from within the gap")
		}
		require.False(t, server.call("get_ticket", ticket142).IsError)
		server.end()
		rest, err := io.ReadAll(log)
		require.NoError(t, err)
		require.Contains(t, string(rest), `"msg":"call",`)
	})
}

// TestUnreadAnswers: with mcp-go's loop a server whose stdout nobody reads never ends. How long it takes is in the log of
// the test; the promise is 5s.
func TestUnreadAnswers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end  func(stdin io.Closer, process *os.Process) error
		code int
	}{
		"end of input": {func(stdin io.Closer, _ *os.Process) error { return stdin.Close() }, 1},
		"signal":       {func(_ io.Closer, process *os.Process) error { return process.Signal(syscall.SIGTERM) }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kitebase := startUpstream(t, fakeapi.Config{})
			cmd := start{args: patient(kitebase.url)}.command(t)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			stdin, err := cmd.StdinPipe()
			require.NoError(t, err)
			stdout, err := cmd.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())

			const list = `{"jsonrpc":"2.0","id":%d,"method":"tools/list"}` + "\n"
			_, err = fmt.Fprintf(stdin, list, 0)
			require.NoError(t, err)
			answer, err := bufio.NewReader(stdout).ReadString('\n')
			require.NoError(t, err)
			var lines strings.Builder
			for id := 1; id <= 5<<20/len(answer)+1; id++ {
				fmt.Fprintf(&lines, list, id)
			}
			lines.WriteString(`{"jsonrpc":"2.0","id":"last","method":"tools/call",` +
				`"params":{"name":"get_ticket","arguments":` + ticket142 + "}}\n")
			_, err = io.WriteString(stdin, lines.String())
			require.NoError(t, err)
			kitebase.arrived(1) // everything before it was read, too

			began := time.Now()
			dog := time.AfterFunc(50*time.Second, func() { _ = cmd.Process.Kill() }) // the exit code tells
			defer dog.Stop()
			require.NoError(t, c.end(stdin, cmd.Process))
			_ = cmd.Wait() // the exit code is asked instead
			t.Logf("ended after %v", time.Since(began))
			require.Equal(t, c.code, cmd.ProcessState.ExitCode(), stderr.String())
		})
	}
}
