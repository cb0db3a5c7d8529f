package web

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
)

// An exchange is one direct request and its answer, as the session that mcp-go sees. The first notification makes the answer an
// event stream, on which it comes before the answer; most exchanges have none, and so neither a channel nor a goroutine. Safe for
// concurrent use.
type exchange struct {
	id     string // of the session; mcp-go files the request under it for cancels
	header http.Header
	w      *reply
	log    *slog.Logger

	mu      sync.Mutex
	notes   chan mcp.JSONRPCNotification
	closing chan struct{}
	drained chan struct{}
	closed  bool
}

// notesAhead is how many notifications may wait to be written; mcp-go drops what is more.
const notesAhead = 100

var _ mcpserver.ClientSession = (*exchange)(nil)

// SessionID implements mcp-go's ClientSession.
func (x *exchange) SessionID() string { return x.id }

// Initialize implements mcp-go's ClientSession. Nothing is kept from one request to the next.
func (x *exchange) Initialize() {}

// Initialized implements mcp-go's ClientSession: a client without a session can be notified too, on the answer to its request.
func (x *exchange) Initialized() bool { return true }

// NotificationChannel implements mcp-go's ClientSession. Once the exchange is closed it returns nil, into which mcp-go's sends,
// none of which block, find no way.
func (x *exchange) NotificationChannel() chan<- mcp.JSONRPCNotification {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return nil
	}
	if x.notes == nil {
		x.notes = make(chan mcp.JSONRPCNotification, notesAhead)
		x.closing, x.drained = make(chan struct{}), make(chan struct{})
		x.w.beginEvents()
		go x.pump()
	}
	return x.notes
}

// close returns when everything that was sent so far is written; what is sent later is dropped.
func (x *exchange) close() {
	x.mu.Lock()
	open := !x.closed && x.notes != nil
	x.closed = true
	x.mu.Unlock()
	if open {
		close(x.closing)
		<-x.drained
	}
}

func (x *exchange) pump() {
	defer close(x.drained)
	for {
		select {
		case n := <-x.notes:
			x.notify(n)
			continue
		case <-x.closing:
		}
		for range len(x.notes) {
			x.notify(<-x.notes)
		}
		return
	}
}

func (x *exchange) notify(n mcp.JSONRPCNotification) {
	data, err := json.Marshal(n)
	if err != nil {
		x.log.Error("a notification cannot be written as JSON", "err", err)
		return
	}
	x.w.notify(data)
}
