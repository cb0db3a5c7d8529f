package stdio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
)

// maxParked is how many goroutines may wait for their turn at reading; others end. Two are enough for one call after
// another. Under load each that ends costs the next call a new one, whose stack must grow again, copied at each step.
const maxParked = 64

// loop is one Serve.
type loop struct {
	cfg     Config
	server  *mcpserver.MCPServer
	ctx     context.Context // parent of every request's
	session *session        // outside of requests
	lines   *lines          // belongs to whoever has the turn
	out     *output
	calls   *calls

	turn   chan struct{} // hands the turn to a goroutine that waits for it
	parked atomic.Int32
	done   chan struct{} // closed when Serve returns: nobody needs a turn any more
	ended  chan struct{} // closed at the end of the input
	err    error         // why reading ended, if not by the end of the input or of ctx; read it after ended
}

func newLoop(ctx context.Context, server *mcpserver.MCPServer, cfg Config) *loop {
	return &loop{
		cfg:    cfg,
		server: server,
		ctx:    ctx,
		calls:  newCalls(cfg.MaxCalls),
		turn:   make(chan struct{}),
		done:   make(chan struct{}),
		ended:  make(chan struct{}),
	}
}

// work reads a message and handles it, again and again, while other goroutines do the same. It starts with the turn.
func (l *loop) work() {
	for {
		job, err := l.next()
		if err != nil {
			l.end(err)
			return
		}
		l.passTurn()
		job()
		if !l.awaitTurn() {
			return
		}
	}
}

func (l *loop) passTurn() {
	select {
	case l.turn <- struct{}{}:
	default:
		go l.work()
	}
}

func (l *loop) awaitTurn() bool {
	defer l.parked.Add(-1)
	if l.parked.Add(1) > maxParked {
		return false
	}
	select {
	case <-l.turn:
		return true
	case <-l.done:
		return false
	}
}

func (l *loop) end(err error) {
	if err != io.EOF && err != errEnded && !errors.Is(err, os.ErrDeadlineExceeded) {
		l.err = fmt.Errorf("reading from the client: %w", err)
	}
	l.calls.close()
	close(l.ended)
}

var errEnded = errors.New("ended by its context")

// next reads until there is something to do outside of the turn. The job that it returns has entered l.calls.
func (l *loop) next() (func(), error) {
	for {
		l.out.waitRoom(l.cfg.MaxUnread, l.cfg.Stall)
		read, err := l.lines.next()
		if err != nil {
			return nil, err
		}
		if !l.calls.enter() {
			return nil, errEnded
		}
		if job := l.admit(read, time.Now()); job != nil {
			return job, nil
		}
		l.calls.leave()
	}
}

// admit decides in the order of arrival what is to be done with a line; nil: nothing more.
func (l *loop) admit(read line, arrived time.Time) func() {
	if read.tooLong {
		return l.refuse(refusal{idOf(read.text, read.tail), mcp.INVALID_REQUEST, fmt.Sprintf(textTooLong, l.cfg.MaxLine)})
	}
	m, problem := readMessage(read.text)
	switch {
	case problem != nil:
		return l.refuse(*problem)
	case m.isAnswer():
		return nil
	case m.id == nil && m.method == mcp.MethodNotificationCancelled:
		l.cancel(m.params)
		return nil
	case m.id == nil:
		return l.notification(read.text)
	}
	return l.request(m, read.text, arrived)
}
