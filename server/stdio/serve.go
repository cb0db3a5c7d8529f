package stdio

import (
	"context"
	"fmt"
	"io"
	"time"

	mcpserver "github.com/mark3labs/mcp-go/server"
)

// Serve reads messages from in, one a line, and writes answers to out until in ends or ctx does; then it finishes what
// is under way and returns. Several Serve may run at once, on one server or on several.
//
// It returns nil when everything that was received has been answered; an error wrapping [ErrUnread] when the client
// stopped reading; and other errors for a wrong Config, for reading, for writing (a client that closed its end), and for
// calls that did not end within [Config.Drain].
//
// When ctx ends, so do the contexts of all requests: a caller ends it on a signal. When out fails, the contexts of
// requests end as well, and Serve waits for them. A Read that blocks is interrupted if in has a SetReadDeadline that
// works (os.Pipe and net.Pipe do, os.Stdin mostly does not); otherwise its goroutine is left behind, and drops what it
// reads. The same holds for a Write that nobody reads.
//
// A request whose id is under way already gets the error -32600 under that id and is not run; the first one goes on and
// is answered as well. The error could be sent under null instead, but a client that gave one id to two requests would
// then take the answer to the first for that to the second, and a reply might seem sent that never was. If on the other
// hand one request was delivered twice, the client reads this error, whose text says that the first one goes on.
func Serve(ctx context.Context, server *mcpserver.MCPServer, in io.Reader, out io.Writer, cfg Config) error {
	if err := cfg.Validate(); err != nil {
		return err
	}
	requests, cancel := context.WithCancel(ctx)
	defer cancel()
	l := newLoop(requests, server, cfg.withDefaults())
	l.lines, l.out = newLines(in, l.cfg.MaxLine), newOutput(out, l.calls.underWay)
	l.session = newSession(newClient(), l.out, l.cfg.Logger, nil)
	if err := server.RegisterSession(ctx, l.session); err != nil {
		return fmt.Errorf("registering the stdio session: %w", err)
	}
	defer server.UnregisterSession(context.WithoutCancel(ctx), l.session.SessionID())
	defer close(l.done)

	go l.work()
	select {
	case <-l.ended:
	case <-ctx.Done():
	case <-l.out.failed:
	}
	l.calls.close()
	if r, ok := in.(interface{ SetReadDeadline(time.Time) error }); ok {
		_ = r.SetReadDeadline(time.Now()) // files without deadlines say so; nothing else can be done
	}
	return l.finish(cancel)
}

// finish waits until everything under way is answered and written, or will not be.
func (l *loop) finish(cancel context.CancelFunc) error {
	written := make(chan error, 1)
	go func() {
		<-l.calls.idle
		l.session.notes.Close()
		written <- l.out.waitFlushed()
	}()
	stall := ticks(l.cfg.Stall / 2) // a write that is under way at two looks has been for half the time at least
	defer stall.Stop()
	drain := ticks(l.cfg.Drain)
	defer drain.Stop()
	failed, drained := l.out.failed, false
	for {
		select {
		case err := <-written:
			return l.result(err)
		case <-stall.C:
			l.out.checkStalled()
		case <-failed: // nobody will read the answers
			cancel()
			failed = nil
		case <-drain.C:
			if drained {
				return fmt.Errorf("giving up on calls that did not end within %s", l.cfg.Drain)
			}
			cancel()
			drained = true
			drain.Reset(time.Second) // for those that end when their context does
		}
	}
}

func (l *loop) result(written error) error {
	if written != nil {
		return written
	}
	select {
	case <-l.ended:
		return l.err
	default:
		return nil
	}
}

// ticks returns a ticker, or one that never ticks for times that are turned off.
func ticks(d time.Duration) *time.Ticker {
	if d > 0 {
		return time.NewTicker(d)
	}
	t := time.NewTicker(time.Hour)
	t.Stop()
	return t
}
