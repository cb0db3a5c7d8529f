package main_test

import (
	"io"
	"net"
	"net/url"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// wire is what lies between a replica and its PostgreSQL, and can be cut.
type wire struct {
	listener net.Listener
	to       string

	mu     sync.Mutex
	state  wireState
	thawed chan struct{} // closed when it is no longer frozen
	conns  map[net.Conn]bool
}

type wireState int

const (
	whole  wireState = iota
	cut              // nothing can connect, and nothing is connected
	frozen           // what is connected stays so, and no byte gets through: a lost route, a firewall that forgot
)

// wired returns the URL of a ledger as it is seen through a wire.
func wired(t *testing.T, ledger string) (*wire, string) {
	t.Helper()
	address, err := url.Parse(ledger)
	require.NoError(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	w := &wire{listener: listener, to: address.Host, thawed: make(chan struct{}), conns: map[net.Conn]bool{}}
	close(w.thawed)
	var served sync.WaitGroup
	served.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			served.Go(func() { w.carry(conn) })
		}
	})
	t.Cleanup(func() {
		w.set(cut)
		_ = listener.Close() // it was open until now
		served.Wait()
	})
	address.Host = listener.Addr().String()
	return w, address.String()
}

// set changes what the wire does.
func (w *wire) set(state wireState) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.state == frozen {
		close(w.thawed)
	}
	w.state = state
	switch state {
	case frozen:
		w.thawed = make(chan struct{})
	case cut:
		for conn := range w.conns {
			_ = conn.Close() // cut
		}
	}
}

func (w *wire) carry(near net.Conn) {
	defer near.Close()
	if !w.hold(near) {
		return
	}
	w.await()
	far, err := net.Dial("tcp", w.to)
	if err != nil {
		return
	}
	defer far.Close()
	if !w.hold(far) {
		return
	}
	var both sync.WaitGroup
	both.Go(func() { w.copy(far, near) })
	both.Go(func() { w.copy(near, far) })
	both.Wait()
}

// hold keeps a connection to be cut, unless the wire is.
func (w *wire) hold(conn net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.conns[conn] = true
	return w.state != cut
}

func (w *wire) await() {
	w.mu.Lock()
	thawed := w.thawed
	w.mu.Unlock()
	<-thawed
}

func (w *wire) copy(to, from net.Conn) {
	defer to.Close()
	piece := make([]byte, 32<<10)
	for {
		n, err := from.Read(piece)
		w.await()
		if n > 0 {
			if _, err := to.Write(piece[:n]); err != nil {
				return
			}
		}
		if err != nil {
			if err != io.EOF {
				_ = from.Close() // so that the other direction ends as well
			}
			return
		}
	}
}
