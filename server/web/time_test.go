package web_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server/web"
)

// pipes is a listener without sockets, so that a synctest bubble's clock rules both ends.
type pipes struct {
	conns     chan net.Conn
	done      chan struct{}
	close     sync.Once
	deadlines atomic.Int64 // of writes, as often as one was set
}

// boundConn is a connection whose deadlines are counted.
type boundConn struct {
	net.Conn
	deadlines *atomic.Int64
}

func (c boundConn) SetWriteDeadline(at time.Time) error {
	if !at.IsZero() { // net/http takes each back
		c.deadlines.Add(1)
	}
	return c.Conn.SetWriteDeadline(at)
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.close.Do(func() { close(p.done) }); return nil }
func (p *pipes) Addr() net.Addr { return pipeAddr{} }

func (p *pipes) dial(context.Context, string, string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case p.conns <- boundConn{theirs, &p.deadlines}:
		return ours, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "localhost" }

// inBubble runs a test against a desk, and tells it the time since its start.
func inBubble(t *testing.T, cfg web.Config, test func(t *testing.T, d *desk, p *pipes, since func() time.Duration)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
		d := serveDesk(t, cfg, p)
		d.client.Transport = &http.Transport{DialContext: p.dial}
		start := time.Now()
		test(t, d, p, func() time.Duration { return time.Since(start) })
	})
}

func TestKeepAlive(t *testing.T) {
	inBubble(t, web.Config{}, func(t *testing.T, d *desk, _ *pipes, since func() time.Duration) {
		s := openSSE(t, d)
		require.Equal(t, ": keep-alive", s.next(t))
		require.Equal(t, 15*time.Second, since())
		time.Sleep(10 * time.Second)
		s.post(t, toolCall("1", "echo"))
		require.Contains(t, s.next(t), "echo")
		require.Equal(t, ": keep-alive", s.next(t))
		require.Equal(t, 40*time.Second, since(), "15s after the last event")
	})
	inBubble(t, web.Config{}, func(t *testing.T, d *desk, _ *pipes, since func() time.Duration) {
		listen, header := modern("subscriptions/listen", "", "5")
		s := &sse{lines: bufio.NewScanner(d.do(t, "POST", "/mcp", listen, header...).Body)}
		require.Contains(t, s.next(t), "acknowledged")
		require.Equal(t, ": keep-alive", s.next(t))
		require.Equal(t, ": keep-alive", s.next(t))
		require.Equal(t, 30*time.Second, since())
	})
}

// An abandoned copy of a host keeps its stream for ever if one lets it.
func TestIdleStreamsExpire(t *testing.T) {
	inBubble(t, web.Config{KeepAlive: -1}, func(t *testing.T, d *desk, _ *pipes, since func() time.Duration) {
		s := openSSE(t, d)
		time.Sleep(3 * time.Hour)
		s.post(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		time.Sleep(3 * time.Hour)
		s.post(t, toolCall("1", "echo"))
		require.Contains(t, s.next(t), "echo")
		require.Empty(t, s.next(t))
		require.Equal(t, 10*time.Hour, since())
		require.Equal(t, 404, s.post(t, toolCall("2", "echo")).StatusCode)
	})
	inBubble(t, web.Config{SessionIdle: time.Hour}, func(t *testing.T, d *desk, _ *pipes, since func() time.Duration) {
		listen, header := modern("subscriptions/listen", "", "5")
		_, err := io.Copy(io.Discard, d.do(t, "POST", "/mcp", listen, header...).Body)
		require.NoError(t, err)
		require.Equal(t, time.Hour, since(), "keep-alives are no sign of life")
	})
}

// Slowloris: a connection that never finishes what it says.
func TestSlowRequests(t *testing.T) {
	t.Run("headers", func(t *testing.T) {
		inBubble(t, web.Config{}, func(t *testing.T, _ *desk, p *pipes, since func() time.Duration) {
			c, err := p.dial(t.Context(), "", "")
			require.NoError(t, err)
			_, err = io.WriteString(c, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-")
			require.NoError(t, err)
			_, err = io.Copy(io.Discard, c)
			require.NoError(t, err)
			require.Equal(t, 10*time.Second, since())
		})
	})
	t.Run("body", func(t *testing.T) {
		inBubble(t, web.Config{}, func(t *testing.T, d *desk, p *pipes, since func() time.Duration) {
			c, err := p.dial(t.Context(), "", "")
			require.NoError(t, err)
			_, err = io.WriteString(c, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
			require.NoError(t, err)
			r, err := http.ReadResponse(bufio.NewReader(c), nil)
			require.NoError(t, err)
			require.Equal(t, 408, r.StatusCode)
			require.Equal(t, 30*time.Second, since())
			require.NoError(t, c.Close())
			require.Zero(t, d.runs.Load())
		})
	})
}

// A client that does not read its stream must not hold a call, or a shutdown, for ever.
func TestUnreadStreamEnds(t *testing.T) {
	inBubble(t, web.Config{}, func(t *testing.T, d *desk, _ *pipes, since func() time.Duration) {
		s := openSSE(t, d)
		s.post(t, toolCall("1", "hang"))
		<-d.started
		require.ErrorIs(t, <-d.ended, context.Canceled)
		require.Equal(t, 45*time.Second, since(), "the keep-alive at 15s could not be written for 30s")
	})
}

// Nor may a client that does not read an answer, also when it has read those before on the same connection.
func TestUnreadAnswerEnds(t *testing.T) {
	inBubble(t, web.Config{}, func(t *testing.T, d *desk, p *pipes, _ func() time.Duration) {
		c, err := p.dial(t.Context(), "", "")
		require.NoError(t, err)
		in := bufio.NewReader(c)
		for _, answers := range []bool{true, true, false} {
			_, err = fmt.Fprintf(c, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
				len(toolCall("1", "echo")), toolCall("1", "echo"))
			require.NoError(t, err)
			if !answers {
				time.Sleep(30 * time.Second)
				synctest.Wait()
			}
			r, err := http.ReadResponse(in, nil)
			if !answers {
				require.Error(t, err, "the answer waited longer than it may")
				break
			}
			require.NoError(t, err)
			require.Contains(t, answer(t, r), "echo")
		}
		require.NoError(t, c.Close())
	})
}

// Setting a deadline costs more than the rest of a reply.
func TestWriteDeadlineIsSetWhenItIsDue(t *testing.T) {
	inBubble(t, web.Config{}, func(t *testing.T, d *desk, p *pipes, _ func() time.Duration) {
		require.Contains(t, answer(t, d.do(t, "POST", "/mcp", toolCall("1", "echo"))), "echo")
		synctest.Wait()
		require.EqualValues(t, 1, p.deadlines.Load())
		slow := inBackground(func() *http.Response { return d.do(t, "POST", "/mcp", toolCall("1", "hang")) })
		<-d.started
		time.Sleep(time.Minute)
		d.release <- struct{}{}
		require.Contains(t, answer(t, <-slow), "released")
		synctest.Wait()
		require.EqualValues(t, 3, p.deadlines.Load(), "the first one was over")
	})
}

func TestDrainTimeout(t *testing.T) {
	inBubble(t, web.Config{}, func(t *testing.T, d *desk, _ *pipes, since func() time.Duration) {
		gone := inBackground(func() error { return callWith(t.Context(), d, toolCall("1", "hang")) })
		<-d.started
		require.ErrorContains(t, d.stop(), "after 30s some requests were still under way and were told to stop: 1")
		require.ErrorIs(t, <-d.ended, context.Canceled)
		require.ErrorContains(t, <-gone, "check before you repeat it")
		require.Less(t, since(), 32*time.Second)
	})
	inBubble(t, web.Config{DrainTimeout: -1}, func(t *testing.T, d *desk, _ *pipes, since func() time.Duration) {
		gone := inBackground(func() error { return callWith(t.Context(), d, toolCall("1", "stubborn")) })
		<-d.started
		time.AfterFunc(time.Hour, func() { d.release <- struct{}{} })
		require.NoError(t, d.stop())
		require.NoError(t, <-gone)
		require.GreaterOrEqual(t, since(), time.Hour)
	})
}
