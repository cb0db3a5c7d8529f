package lab

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// errGone is why a call has no answer when the server has ended.
var errGone = errors.New("the server has ended")

// endLimit is how long a server has to end after its input was closed, before it is killed. restLimit is how long its output is
// read after that: it may be held open for ever by what the server has started in a session of its own.
const (
	endLimit  = 3 * time.Second
	restLimit = time.Second
)

// child is one process of the server. Its methods are safe for concurrent use.
type child struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *os.File // our end
	stderr tail
	stray  *stray

	out    chan []byte   // to the writer
	closed chan struct{} // its input is to be closed
	ended  chan struct{} // closed when the process has ended
	gone   chan struct{} // closed when its output was read, too
	once   sync.Once

	mu      sync.Mutex
	lastID  int64
	waiting map[string]chan message
}

// startChild starts a process. What it writes beside its messages is added to other. The caller ends it with end or kill.
func startChild(command, env []string, other *stray) (*child, error) {
	c := &child{
		cmd: exec.Command(command[0], command[1:]...), stray: other,
		out: make(chan []byte), closed: make(chan struct{}), ended: make(chan struct{}), gone: make(chan struct{}),
		waiting: make(map[string]chan message),
	}
	c.cmd.Env = append([]string{}, env...) // nil would be the environment of this process
	c.cmd.Stderr = &c.stderr
	c.cmd.WaitDelay = restLimit // of stderr
	ownGroup(c.cmd)
	var err error
	if c.stdin, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	// Not a StdoutPipe, which Wait would close before it is read.
	var theirs *os.File
	if c.stdout, theirs, err = os.Pipe(); err != nil {
		return nil, err
	}
	c.cmd.Stdout = theirs
	err = c.cmd.Start()
	_ = theirs.Close() // the process has its own
	if err != nil {
		_ = c.stdout.Close() // nothing was written
		return nil, err
	}
	go c.wait()
	go c.read()
	go c.write()
	return c, nil
}

func (c *child) wait() {
	_ = c.cmd.Wait() // how it ended is in ProcessState
	close(c.ended)
}

// read takes what the server writes until nobody can write any more, or kill ends the reading.
func (c *child) read() {
	defer close(c.gone)
	lines := bufio.NewReaderSize(c.stdout, 1<<16)
	for {
		line, tooLong, err := readLine(lines)
		switch {
		case tooLong:
			c.stray.addLong(line)
		case len(line) > 0:
			c.take(line)
		}
		if err != nil {
			break
		}
	}
	_ = c.stdout.Close() // it was only read
	<-c.ended
}

func (c *child) take(line []byte) {
	m, ok := parse(line)
	if !ok {
		c.stray.add(line)
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
			_, _ = c.stdin.Write(line) // fails when nobody reads it; then there is no answer
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

// kill ends the process, and what it has started, at once. What is in a session of its own is beyond its reach; nobody waits
// for that to close its end of the output.
func (c *child) kill() {
	killGroup(c.cmd)
	<-c.ended
	_ = c.stdout.Close() // fails when it was closed before
	<-c.gone
}

// end closes the input and waits for the process; if that is not enough, it is killed.
func (c *child) end(ctx context.Context) {
	c.closeInput()
	if within(ctx, endLimit, c.ended) {
		within(ctx, restLimit, c.gone)
	}
	c.kill() // also what it may have left behind
}

// within waits for something to be done, and reports whether it was before the limit and the end of ctx.
func within(ctx context.Context, limit time.Duration, done <-chan struct{}) bool {
	patience := time.NewTimer(limit)
	defer patience.Stop()
	select {
	case <-done:
		return true
	case <-patience.C:
	case <-ctx.Done():
	}
	return false
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
