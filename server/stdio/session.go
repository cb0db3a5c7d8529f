package stdio

import (
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/kitebase/kitebase-mcp/server/wire"
)

// client is what is known of the client at the other end: the part that all sessions of one Serve share.
type client struct {
	id           string
	initialized  atomic.Bool
	level        atomic.Value // mcp.LoggingLevel
	info         atomic.Value // mcp.Implementation
	capabilities atomic.Value // mcp.ClientCapabilities
	version      atomic.Value // string
}

func newClient() *client {
	c := &client{id: "stdio-" + rand.Text()} // unlike mcp-go's, several may serve one MCPServer
	c.level.Store(mcp.LoggingLevelError)
	c.info.Store(mcp.Implementation{})
	c.capabilities.Store(mcp.ClientCapabilities{})
	c.version.Store("")
	return c
}

func (c *client) SessionID() string                              { return c.id }
func (c *client) Initialize()                                    { c.initialized.Store(true) }
func (c *client) Initialized() bool                              { return c.initialized.Load() }
func (c *client) SetLogLevel(level mcp.LoggingLevel)             { c.level.Store(level) }
func (c *client) GetLogLevel() mcp.LoggingLevel                  { return c.level.Load().(mcp.LoggingLevel) }
func (c *client) SetClientInfo(info mcp.Implementation)          { c.info.Store(info) }
func (c *client) GetClientInfo() mcp.Implementation              { return c.info.Load().(mcp.Implementation) }
func (c *client) SetClientCapabilities(v mcp.ClientCapabilities) { c.capabilities.Store(v) }
func (c *client) GetClientCapabilities() mcp.ClientCapabilities {
	return c.capabilities.Load().(mcp.ClientCapabilities)
}
func (c *client) SetProtocolVersion(version string) { c.version.Store(version) }
func (c *client) ProtocolVersion() string           { return c.version.Load().(string) }

// session is the client as one request sees it: with notifications of its own. With one channel for all, an answer could overtake
// the notifications of its request, or they could come after it.
type session struct {
	*client
	out   *output
	log   *slog.Logger
	muted func() bool // nil: never
	notes wire.Notes
}

func newSession(client *client, out *output, log *slog.Logger, muted func() bool) *session {
	s := &session{client: client, out: out, log: log, muted: muted}
	s.notes.To = s
	return s
}

var (
	_ mcpserver.SessionWithLogging         = (*session)(nil)
	_ mcpserver.SessionWithClientInfo      = (*session)(nil)
	_ mcpserver.SessionWithProtocolVersion = (*session)(nil)
)

// NotificationChannel implements mcp-go's ClientSession.
func (s *session) NotificationChannel() chan<- mcp.JSONRPCNotification { return s.notes.Channel() }

// BeginNotes implements [wire.Notifier].
func (s *session) BeginNotes() {}

// Notify implements [wire.Notifier].
func (s *session) Notify(n mcp.JSONRPCNotification) {
	if s.muted != nil && s.muted() {
		return
	}
	text, err := json.Marshal(n)
	if err != nil {
		s.log.Error("notification dropped: it cannot be written as JSON", "method", n.Method, "error", err)
		return
	}
	s.out.add(append(text, '\n'))
	go s.out.flush() // not here: an output that is not read must not hold up the end of the request
}
