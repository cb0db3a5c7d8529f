package wire

import (
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
)

// Notifier writes the notifications of one request. Its methods are not called at the same time, nor after [Notes.Close] returned.
type Notifier interface {
	// BeginNotes is called once, before the first notification; most requests have none.
	BeginNotes()
	// Notify writes one. It must not wait for a client that does not read.
	Notify(mcp.JSONRPCNotification)
}

// Notes is the channel of notifications of one request, of its own so that they come before its answer. mcp-go only ever puts
// into it. The channel and its goroutine are made when it is first asked for. To has to be set; it is safe for concurrent use
// and must not be copied.
type Notes struct {
	To Notifier

	mu      sync.Mutex
	notes   chan mcp.JSONRPCNotification
	closing chan struct{}
	drained chan struct{}
	closed  bool
}

// notesAhead is how many notifications may wait to be written; mcp-go drops what is more.
const notesAhead = 100

// Channel returns the channel. Once the request is answered it is nil, into which mcp-go's sends, none of which block, find no
// way.
func (n *Notes) Channel() chan<- mcp.JSONRPCNotification {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return nil
	}
	if n.notes == nil {
		n.notes = make(chan mcp.JSONRPCNotification, notesAhead)
		n.closing, n.drained = make(chan struct{}), make(chan struct{})
		n.To.BeginNotes()
		go n.pump()
	}
	return n.notes
}

// Close returns when everything that was sent so far is handed on; what is sent later is dropped.
func (n *Notes) Close() {
	n.mu.Lock()
	open := !n.closed && n.notes != nil
	n.closed = true
	n.mu.Unlock()
	if open {
		close(n.closing)
		<-n.drained
	}
}

func (n *Notes) pump() {
	defer close(n.drained)
	for {
		select {
		case note := <-n.notes:
			n.To.Notify(note)
			continue
		case <-n.closing:
		}
		for range len(n.notes) {
			n.To.Notify(<-n.notes)
		}
		return
	}
}
