package stdio

import (
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
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

// session is the client as one request sees it: with a channel of notifications of its own. mcp-go only ever puts into
// that channel; with one for all, an answer could overtake the notifications of its request, or they could come after
// it. The channel and its goroutine are made when the first notification is sent: most requests send none.
type session struct {
	*client
	out   *output
	log   *slog.Logger
	muted func() bool // nil: never

	mu      sync.Mutex
	notes   chan mcp.JSONRPCNotification
	closing chan struct{}
	drained chan struct{}
	closed  bool
}

// notesAhead is how many notifications may wait to be encoded; what is more is dropped by mcp-go.
const notesAhead = 32

var (
	_ mcpserver.SessionWithLogging         = (*session)(nil)
	_ mcpserver.SessionWithClientInfo      = (*session)(nil)
	_ mcpserver.SessionWithProtocolVersion = (*session)(nil)
)

// NotificationChannel returns the channel for notifications to the client. Once the request is answered it is nil, into
// which mcp-go's sends, none of which block, find no way.
func (s *session) NotificationChannel() chan<- mcp.JSONRPCNotification {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	if s.notes == nil {
		s.notes = make(chan mcp.JSONRPCNotification, notesAhead)
		s.closing = make(chan struct{})
		s.drained = make(chan struct{})
		go s.pump()
	}
	return s.notes
}

// close returns when everything sent so far is queued for output; what is sent later is dropped.
func (s *session) close() {
	s.mu.Lock()
	open := !s.closed && s.notes != nil
	s.closed = true
	s.mu.Unlock()
	if open {
		close(s.closing)
		<-s.drained
	}
}

func (s *session) pump() {
	defer close(s.drained)
	for {
		select {
		case n := <-s.notes:
			s.emit(n)
			continue
		case <-s.closing:
		}
		for range len(s.notes) {
			s.emit(<-s.notes)
		}
		return
	}
}

func (s *session) emit(n mcp.JSONRPCNotification) {
	if s.muted != nil && s.muted() {
		return
	}
	text, err := json.Marshal(n)
	if err != nil {
		s.log.Error("notification dropped: it cannot be written as JSON", "method", n.Method, "error", err)
		return
	}
	s.out.add(append(text, '\n'))
	go s.out.flush() // not here: an output that is not read must not hold up close, and with it the end
}
