package main_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/fakeapi"
)

// gate is a door in front of a fake Kitebase at which a test can do something at an exact point of a reply's life.
type gate struct {
	*upstream
	// connected is called when the next connection comes, before a byte of it is read; the connection is then cut.
	connected atomic.Pointer[func()]
	// replying is called when the next reply has come. work makes Kitebase do it; the answer is told if replying returns
	// true, else the connection is cut.
	replying atomic.Pointer[func(work func()) bool]
	replies  atomic.Int32 // that have come
}

// newGatedScene is newScene with a gate.
func newGatedScene(t *testing.T, keys bool) (*scene, *gate) {
	t.Helper()
	s := newScene(t, keys)
	fake, err := fakeapi.New(fakeapi.Config{IgnoreKeys: !keys})
	require.NoError(t, err)
	g := &gate{upstream: s.kitebase}
	g.Fake = fake
	server := httptest.NewUnstartedServer(g)
	server.Listener = gateListener{server.Listener, g}
	server.Start()
	t.Cleanup(server.Close)
	t.Cleanup(fake.Close)
	g.url = server.URL
	return s, g
}

// ServeHTTP is part of [http.Handler].
func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.count(1)
	defer g.count(-1)
	var meet *func(func()) bool
	if r.Method == http.MethodPost {
		g.replies.Add(1)
		meet = g.replying.Swap(nil)
	}
	if meet == nil {
		g.Fake.ServeHTTP(w, r)
		return
	}
	answer := httptest.NewRecorder()
	if !(*meet)(func() { g.Fake.ServeHTTP(answer, r) }) {
		panic(http.ErrAbortHandler)
	}
	for name, values := range answer.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes()) // the client may be gone, which is what the test is about
}

type gateListener struct {
	net.Listener
	gate *gate
}

// Accept is part of [net.Listener].
func (l gateListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		meet := l.gate.connected.Swap(nil)
		if meet == nil {
			return conn, nil
		}
		(*meet)()
		_ = conn.Close() // whoever was at its other end is dead
	}
}

// onConnection calls f when the next connection comes, and cuts it.
func (g *gate) onConnection(f func()) { g.connected.Store(&f) }

// onReply calls f when the next reply has come, see gate.replying.
func (g *gate) onReply(f func(work func()) bool) { g.replying.Store(&f) }

// kill ends the child as kill -9 does.
func (c *child) kill() { _ = c.cmd.Process.Kill() } // an error says that it is dead already

// gone waits for the end of a child that was killed.
func (c *child) gone() {
	c.t.Helper()
	c.over = true
	c.mu.Lock()
	for !c.closed {
		c.changed.Wait()
	}
	c.mu.Unlock()
	_ = c.cmd.Wait() // it was killed
	_ = c.stdin.Close()
}
