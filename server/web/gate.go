package web

import (
	"fmt"
	"sync"
)

// reserve is what stands beside a limit for what must be served while the limit is reached: pings and listings beside
// hung calls, health checks beside connections.
const reserve = 64

// A gate counts the requests under way on both transports, refuses those beyond the limit, and, once closed, all.
type gate struct {
	limit int // of tool calls; negative for none

	mu       sync.Mutex
	calls    int
	requests int // calls included
	closed   bool
	idle     chan struct{} // closed when the gate is and nothing is under way
}

func newGate(limit int) *gate { return &gate{limit: limit, idle: make(chan struct{})} }

// enter lets m in, to be followed by leave, or says why not.
func (g *gate) enter(m *message) *refusal {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return draining()
	}
	if m.isCall() && g.limit >= 0 && g.calls >= g.limit {
		return busy(fmt.Sprintf("The server is busy: %d calls are under way.", g.calls))
	}
	if g.limit >= 0 && g.requests >= g.limit+reserve {
		return busy(fmt.Sprintf("The server is busy: %d requests are under way.", g.requests))
	}
	g.requests++
	if m.isCall() {
		g.calls++
	}
	return nil
}

func (g *gate) leave(m *message) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.requests--
	if m.isCall() {
		g.calls--
	}
	if g.closed && g.requests == 0 {
		close(g.idle)
	}
}

// close refuses whatever comes from now on. The channel that it returns is closed when all that had entered has left.
func (g *gate) close() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.closed && g.requests == 0 {
		close(g.idle)
	}
	g.closed = true
	return g.idle
}

func (g *gate) isClosed() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.closed
}

func (g *gate) underWay() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.requests
}
