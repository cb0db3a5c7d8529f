package lab

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"time"
)

// errGone is why a call has no answer when the server has ended.
var errGone = errors.New("the server has ended")

// endLimit is how long a server has to end after its input was closed, before it is killed.
const endLimit = 3 * time.Second

// child is one process of the server. Its methods are safe for concurrent use.
type child struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stderr tail
	noise  int // lines on stdout that are no JSON-RPC message; to be read after gone

	out    chan []byte   // to the writer
	closed chan struct{} // its input is to be closed
	gone   chan struct{} // closed when the process has ended and its output was read
	once   sync.Once

	mu      sync.Mutex
	lastID  int64
	waiting map[string]chan message
}

// startChild starts a process. The caller ends it with end or kill.
func startChild(command, env []string) (*child, error) {
	c := &child{
		cmd: exec.Command(command[0], command[1:]...),
		out: make(chan []byte), closed: make(chan struct{}), gone: make(chan struct{}),
		waiting: make(map[string]chan message),
	}
	c.cmd.Env = append([]string{}, env...) // nil would be the environment of this process
	c.cmd.Stderr = &c.stderr
	c.cmd.WaitDelay = time.Second
	ownGroup(c.cmd)
	stdout, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if c.stdin, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	go c.read(stdout)
	go c.write()
	return c, nil
}

// read takes what the server writes until it ends.
func (c *child) read(stdout io.Reader) {
	defer close(c.gone)
	lines := bufio.NewReader(stdout)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			c.take(line)
		}
		if err != nil {
			break
		}
	}
	_ = c.cmd.Wait() // how it ended is in ProcessState
}

func (c *child) take(line []byte) {
	var m message
	if json.Unmarshal(line, &m) != nil {
		c.noise++
		return
	}
	if answer := reaction(m); answer != nil {
		go func() { _ = c.send(context.Background(), answer) }() // ends with the process at the latest
		return
	}
	c.mu.Lock()
	asked := c.waiting[string(m.ID)]
	delete(c.waiting, string(m.ID))
	c.mu.Unlock()
	if asked != nil && m.Method == "" {
		asked <- m
	}
}

// write passes lines on until the input is to be closed or the process has ended.
func (c *child) write() {
	defer func() { _ = c.stdin.Close() }() // fails only when the process is gone
	for {
		select {
		case line := <-c.out:
			if _, err := c.stdin.Write(line); err != nil {
				return
			}
		case <-c.closed:
			return
		case <-c.gone:
			return
		}
	}
}

func (c *child) send(ctx context.Context, line []byte) error {
	select {
	case c.out <- line:
		return nil
	case <-c.gone:
		return errGone
	case <-c.closed:
		return errGone
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// begin sends a request and returns its id, and where the answer will be.
func (c *child) begin(ctx context.Context, method string, params any) (int64, <-chan message, error) {
	c.mu.Lock()
	c.lastID++
	id, answer := c.lastID, make(chan message, 1)
	c.waiting[fmt.Sprint(id)] = answer
	c.mu.Unlock()
	return id, answer, c.send(ctx, request{ID: id, Method: method, Params: params}.line())
}

// await waits for an answer that begin has promised.
func (c *child) await(ctx context.Context, answer <-chan message) (message, error) {
	select {
	case m := <-answer:
		return m, nil
	case <-ctx.Done():
		return message{}, context.Cause(ctx)
	case <-c.gone:
	}
	select { // the last thing that it said
	case m := <-answer:
		return m, nil
	default:
		return message{}, errGone
	}
}

// closeInput is how a host says that it is done.
func (c *child) closeInput() { c.once.Do(func() { close(c.closed) }) }

// kill ends the process, and what it has started, at once.
func (c *child) kill() {
	killGroup(c.cmd)
	<-c.gone
}

// end closes the input and waits for the process; if that is not enough, it is killed.
func (c *child) end(ctx context.Context) {
	c.closeInput()
	patience := time.NewTimer(endLimit)
	defer patience.Stop()
	select {
	case <-c.gone:
	case <-patience.C:
	case <-ctx.Done():
	}
	c.kill() // also what it may have left behind
}

// dead reports whether the process has ended.
func (c *child) dead() bool {
	select {
	case <-c.gone:
		return true
	default:
		return false
	}
}
