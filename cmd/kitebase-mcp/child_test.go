package main_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// watchdog ends a child that does not end by itself; its test then fails instead of hanging.
const watchdog = 8 * time.Minute

// promptRaceExit has a child that was built with -race end when it ends, not a second later.
const promptRaceExit = "GORACE=atexit_sleep_ms=50"

// start describes a child process. Its environment has nothing but env.
type start struct {
	args   []string
	env    []string
	dir    string
	within time.Duration // before it is ended. Default watchdog
}

// command returns the program as a process that is not started yet.
func (s start) command(t *testing.T) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), cmp.Or(s.within, watchdog))
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, self, s.args...)
	cmd.Env = append([]string{actAsProgram + "=1", promptRaceExit}, s.env...)
	cmd.Dir = s.dir
	return cmd
}

// finished is what a child that ran to its end left behind.
type finished struct {
	code           int
	stdout, stderr string
}

// run runs the program to its end on one piece of input.
func (s start) run(t *testing.T, stdin string) finished {
	t.Helper()
	cmd := s.command(t)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &stdout, &stderr
	if err := cmd.Run(); err != nil {
		require.IsType(t, &exec.ExitError{}, err)
	}
	return finished{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// child is the program serving over real pipes. Its methods are for one goroutine.
type child struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stderr bytes.Buffer // to be read after end
	lastID int
	over   bool

	mu      sync.Mutex
	changed *sync.Cond
	answers []answer
	closed  bool // its stdout
}

// serve starts the program. When the test ends, so does the child, by the end of its input; that must go well.
func (s start) serve(t *testing.T) *child {
	t.Helper()
	c := &child{t: t, cmd: s.command(t)}
	c.changed = sync.NewCond(&c.mu)
	c.cmd.Stderr = &c.stderr
	var err error
	c.stdin, err = c.cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := c.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.cmd.Start())
	go c.read(stdout)
	t.Cleanup(c.end)
	return c
}

// read takes every line; one that is no JSON-RPC message becomes an answer that no check lets pass, see end.
func (c *child) read(stdout io.Reader) {
	lines := bufio.NewReader(stdout)
	for {
		line, err := lines.ReadString('\n')
		c.mu.Lock()
		if line != "" {
			c.answers = append(c.answers, readAnswer(line))
		}
		c.closed = err != nil
		c.changed.Broadcast()
		c.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// end closes the input and waits for the process: it must exit with 0, and nothing but JSON-RPC may stand on its stdout.
func (c *child) end() {
	c.t.Helper()
	if c.over {
		return
	}
	_ = c.stdin.Close() // fails only when the process is gone, which the exit code tells better
	c.wait()
}

// wait is end for a child that has another reason to end.
func (c *child) wait() {
	c.t.Helper()
	c.over = true
	c.mu.Lock()
	for !c.closed {
		c.changed.Wait()
	}
	c.mu.Unlock()
	_ = c.cmd.Wait() // the exit code is asked instead
	_ = c.stdin.Close()
	require.Zero(c.t, c.cmd.ProcessState.ExitCode(), "stderr:\n%s", c.stderr.String())
	for _, a := range c.answers {
		require.Empty(c.t, a.broken, "a line on stdout that is no JSON-RPC message")
	}
}

// write sends bytes as they are.
func (c *child) write(text string) {
	c.t.Helper()
	_, err := io.WriteString(c.stdin, text)
	require.NoError(c.t, err)
}

// request sends a request with a fresh id and returns that. params is JSON.
func (c *child) request(method, params string) (id string) {
	c.t.Helper()
	c.lastID++
	c.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", c.lastID, method, params))
	return fmt.Sprint(c.lastID)
}

// ask sends a request and waits for its answer, which must be a result.
func (c *child) ask(method, params string) json.RawMessage {
	c.t.Helper()
	a := c.await(c.request(method, params))
	require.Nil(c.t, a.Error, "%s was answered by a JSON-RPC error", method)
	return a.Result
}

// send sends a tool call and returns its id.
func (c *child) send(tool, arguments string) (id string) {
	c.t.Helper()
	return c.request("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, arguments))
}

// call sends a tool call and waits for its result.
func (c *child) call(tool, arguments string) result {
	c.t.Helper()
	return c.await(c.send(tool, arguments)).result(c.t)
}

// await waits for the answer under an id, written as JSON.
func (c *child) await(id string) answer {
	c.t.Helper()
	return c.awaitN(id, 1)
}

// awaitN waits for the nth answer under an id.
func (c *child) awaitN(id string, n int) answer {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for next, seen := 0, 0; ; next++ {
		for next == len(c.answers) {
			require.False(c.t, c.closed, "the server ended without an answer under id %s", id)
			c.changed.Wait()
		}
		if string(c.answers[next].ID) == id {
			seen++
		}
		if seen == n {
			return c.answers[next]
		}
	}
}

// received returns what came so far, in order.
func (c *child) received() []answer {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]answer(nil), c.answers...)
}
