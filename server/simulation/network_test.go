package simulation_test

import (
	"context"
	"net"
	"sync"
	"syscall"
	"time"
)

// network carries connections to Kitebase within the bubble. It is the listener of Kitebase's side.
type network struct {
	accepted chan net.Conn
	closed   chan struct{}
	once     sync.Once
}

func newNetwork() *network {
	return &network{accepted: make(chan net.Conn), closed: make(chan struct{})}
}

func (n *network) Accept() (net.Conn, error) {
	select {
	case conn := <-n.accepted:
		return conn, nil
	case <-n.closed:
		return nil, net.ErrClosed
	}
}

func (n *network) Close() error {
	n.once.Do(func() { close(n.closed) })
	return nil
}

func (n *network) Addr() net.Addr { return &net.UnixAddr{Name: "kitebase", Net: "unix"} }

// link is how one process reaches Kitebase. It breaks with the process.
type link struct {
	network *network
	dead    chan struct{}

	mu      sync.Mutex
	conns   map[*wire]struct{}
	apart   time.Time // until when nothing can be dialled
	dying   bool
	mostNow int // the most connections at once
	broken  int // dials that were refused, and connections that were cut
}

func newLink(n *network) *link {
	return &link{network: n, dead: make(chan struct{}), conns: make(map[*wire]struct{})}
}

// wire is the near end of a connection.
type wire struct {
	net.Conn
	link *link
}

// Close is part of [net.Conn].
func (w *wire) Close() error {
	w.link.mu.Lock()
	delete(w.link.conns, w)
	w.link.mu.Unlock()
	return w.Conn.Close()
}

func (l *link) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	l.mu.Lock()
	refused := l.dying || time.Now().Before(l.apart)
	if refused {
		l.broken++
	}
	l.mu.Unlock()
	if refused {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	}
	select {
	case l.network.accepted <- far:
	case <-l.network.closed:
		return nil, net.ErrClosed
	case <-l.dead:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	w := &wire{near, l}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dying {
		near.Close()
		return nil, net.ErrClosed
	}
	l.conns[w] = struct{}{}
	l.mostNow = max(l.mostNow, len(l.conns))
	return w, nil
}

// cut breaks the connections there are.
func (l *link) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for w := range l.conns {
		w.Conn.Close()
		l.broken++
	}
	clear(l.conns)
}

// part cuts, and lets nothing be dialled for a while.
func (l *link) part(d time.Duration) {
	l.mu.Lock()
	l.apart = time.Now().Add(d)
	l.mu.Unlock()
	l.cut()
}

func (l *link) heal() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.apart = time.Time{}
}

// die breaks everything for good.
func (l *link) die() {
	l.mu.Lock()
	if !l.dying {
		l.dying = true
		close(l.dead)
	}
	l.mu.Unlock()
	l.cut()
}
