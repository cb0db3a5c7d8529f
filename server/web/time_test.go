package web_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server/web"
)

// pipes is a listener without sockets, so that a synctest bubble's clock rules both ends.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
	close sync.Once
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
	case p.conns <- theirs:
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
