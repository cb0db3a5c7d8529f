package web

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
)

// A session is one SSE client to mcp-go, or the sender of a batch. Safe for concurrent use.
type session struct {
	id            string
	initialized   atomic.Bool
	notifications chan mcp.JSONRPCNotification
	answers       chan json.RawMessage // unbuffered: whoever has sent one knows that it is being written
	stream        *stream              // nil for a batch

	mu    sync.Mutex
	calls map[string]*call // under way, by the JSON of their request ids
}

// A call is a request under way.
type call struct {
	cancel    context.CancelFunc
	cancelled bool // by the client, who then expects no answer
}

var _ mcpserver.ClientSession = (*session)(nil)

func newSession(id string) *session {
	return &session{
		id:            id,
		notifications: make(chan mcp.JSONRPCNotification, 100),
		answers:       make(chan json.RawMessage),
		calls:         make(map[string]*call),
	}
}

// SessionID implements mcp-go's ClientSession.
func (s *session) SessionID() string { return s.id }

// Initialize implements mcp-go's ClientSession.
func (s *session) Initialize() { s.initialized.Store(true) }

// Initialized implements mcp-go's ClientSession.
func (s *session) Initialized() bool { return s.initialized.Load() }

// NotificationChannel implements mcp-go's ClientSession.
func (s *session) NotificationChannel() chan<- mcp.JSONRPCNotification { return s.notifications }

// begin notes a request as under way and returns its context, unless one with the same id is.
func (s *session) begin(ctx context.Context, id string) (context.Context, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls[id] != nil {
		return nil, false
	}
	ctx, cancel := context.WithCancel(ctx)
	s.calls[id] = &call{cancel: cancel}
	return ctx, true
}

// end notes that a request is over and says whether its client still wants the answer.
func (s *session) end(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.calls[id]
	delete(s.calls, id)
	c.cancel()
	return !c.cancelled
}

// cancel ends the context of a request of this session; there is no way to name another session's.
func (s *session) cancel(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.calls[id]; c != nil {
		c.cancelled = true
		c.cancel()
	}
}

// sessions are the SSE sessions, by id. The zero value is ready. Safe for concurrent use.
type sessions struct{ byID sync.Map }

func (s *sessions) add(one *session)    { s.byID.Store(one.id, one) }
func (s *sessions) remove(one *session) { s.byID.Delete(one.id) }

func (s *sessions) find(id string) *session {
	one, _ := s.byID.Load(id)
	found, _ := one.(*session)
	return found
}
