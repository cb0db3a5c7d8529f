package web

import (
	"encoding/json"
	"log/slog"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/kitebase/kitebase-mcp/server/wire"
)

// An exchange is one direct request and its answer, as the session that mcp-go sees. The first notification makes the answer an
// event stream, on which it comes before the answer. Safe for concurrent use.
type exchange struct {
	id     string // of the session; mcp-go files the request under it for cancels
	header http.Header
	w      *reply
	log    *slog.Logger
	notes  wire.Notes
}

func newExchange(header http.Header, w *reply, log *slog.Logger) *exchange {
	x := &exchange{header: header, w: w, log: log}
	x.notes.To = x
	return x
}

var _ mcpserver.ClientSession = (*exchange)(nil)

// SessionID implements mcp-go's ClientSession.
func (x *exchange) SessionID() string { return x.id }

// Initialize implements mcp-go's ClientSession. Nothing is kept from one request to the next.
func (x *exchange) Initialize() {}

// Initialized implements mcp-go's ClientSession: a client without a session can be notified too, on the answer to its request.
func (x *exchange) Initialized() bool { return true }

// NotificationChannel implements mcp-go's ClientSession.
func (x *exchange) NotificationChannel() chan<- mcp.JSONRPCNotification { return x.notes.Channel() }

// BeginNotes implements [wire.Notifier].
func (x *exchange) BeginNotes() { x.w.beginEvents() }

// Notify implements [wire.Notifier].
func (x *exchange) Notify(n mcp.JSONRPCNotification) {
	data, err := json.Marshal(n)
	if err != nil {
		x.log.Error("a notification cannot be written as JSON", "err", err)
		return
	}
	x.w.notify(data)
}
