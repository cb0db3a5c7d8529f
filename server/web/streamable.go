package web

import (
	"bytes"
	"context"
	"crypto/rand"
	"io"
	"net/http"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/kitebase/kitebase-mcp/server/access"
	"github.com/kitebase/kitebase-mcp/server/wording"
)

func newStreamable(server *mcpserver.MCPServer, cfg *Config) *mcpserver.StreamableHTTPServer {
	return mcpserver.NewStreamableHTTPServer(server,
		mcpserver.WithStateLess(true),
		mcpserver.WithDisableStreaming(true),
		mcpserver.WithDisableLocalhostProtection(true), // the fence checks Host, by where the server listens
		mcpserver.WithStreamableHTTPLogger(cfg.Logger),
		mcpserver.WithHTTPContextFunc(func(ctx context.Context, _ *http.Request) context.Context {
			return identify(ctx, server)
		}),
	)
}

// serveMCP serves POST /mcp: reads the message, accounts for it, and answers it, directly or by mcp-go's server. A client that
// leaves ends the context of its call.
func (s *Server) serveMCP(ctx context.Context, w *reply, r *http.Request) *refusal {
	m, refused := readMessage(w, r, s.cfg.BodyLimit)
	if refused != nil {
		return refused
	}
	isModern := mcp.IsModernProtocol(r.Header.Get(mcp.HeaderProtocolVersion))
	ctx = s.cfg.Context(ctx, m.arrived)
	if m.batch {
		return s.serveBatch(ctx, w, r, m)
	}
	if m.isRequest() {
		w.id = m.ID
	}
	if refused := s.permit(ctx, m); refused != nil {
		return refused
	}
	switch {
	case m.isSubscribe() && !isModern: // mcp-go would say yes, and nothing would ever come
		return badRequest(mcp.METHOD_NOT_FOUND, unsubscribedText)
	case m.isListen():
		stream, refused := s.streams.start(ctx)
		if refused != nil {
			return refused
		}
		defer s.streams.stop(stream)
		w.stream, w.begun = stream, make(chan struct{})
		ctx = context.WithValue(stream.ctx, listening{}, w)
	case m.isRequest():
		if refused := s.calls.enter(m); refused != nil {
			return refused
		}
		defer s.calls.leave(m)
	}
	if isDirect(m, r.Header) {
		s.serveDirect(ctx, w, r, m)
		return nil
	}
	if m.Method == string(mcp.MethodInitialize) && !isModern {
		w.Header().Set(mcpserver.HeaderKeySessionID, rand.Text()) // so that the client can name its calls to cancel them
	}
	s.serveByMCPGo(w, r.WithContext(ctx), m)
	return nil
}

func (s *Server) serveByMCPGo(w *reply, r *http.Request, m *message) {
	if id := r.Header.Get(mcpserver.HeaderKeySessionID); id != "" {
		r.Header = r.Header.Clone()
		r.Header.Set(mcpserver.HeaderKeySessionID, ownSession(r.Context(), id))
	}
	r.Body = io.NopCloser(bytes.NewReader(m.raw))
	s.streamable.ServeHTTP(w, r)
	if w.hasFailed() {
		s.cfg.Logger.InfoContext(r.Context(), "request failed outside of its tool", "method", wording.Method(m.Method))
	}
}

// ownSession makes the session id of a request, by which mcp-go files calls for their cancels, one of the caller of ctx: whoever
// else learns the id cannot cancel them.
func ownSession(ctx context.Context, id string) string {
	if caller, ok := access.From(ctx); ok {
		return caller.Key() + "." + id
	}
	return id
}

type listening struct{}

// acknowledged bounds the wait of [Acknowledged]; what it waits for takes microseconds.
const acknowledged = time.Second

// Acknowledged waits until the acknowledgement of a subscription has gone out. A server whose clients may subscribe should
// have it as a hook after subscriptions/listen: when nothing that was asked for is on offer, mcp-go ends the stream at once,
// and may drop what it has not written yet.
func Acknowledged(ctx context.Context, _ any, _ *mcp.SubscriptionsListenRequest, _ *mcp.SubscriptionsListenResult) {
	w, ok := ctx.Value(listening{}).(*reply)
	if !ok {
		return
	}
	timer := time.NewTimer(acknowledged)
	defer timer.Stop()
	select {
	case <-w.begun:
	case <-ctx.Done():
	case <-timer.C:
	}
}

// identify gives a request that mcp-go sees without a session (all of the stateless revision, and older ones of clients
// that send none) an identity of its own.
func identify(ctx context.Context, server *mcpserver.MCPServer) context.Context {
	session, ok := mcpserver.ClientSessionFromContext(ctx).(requestSession)
	if !ok || session.SessionID() != "" {
		return ctx
	}
	return server.WithContext(ctx, identified{session, rand.Text()})
}

// requestSession is what mcp-go's sessions of streamable HTTP can do, as far as a request without session needs it.
type requestSession interface {
	mcpserver.SessionWithStreamableHTTPConfig
	mcpserver.SessionWithSubscriptionFilter
	mcpserver.SessionWithClientInfo
	mcpserver.SessionWithLogging
}

type identified struct {
	requestSession
	id string
}

// SessionID is the name under which mcp-go files the call for cancels.
func (i identified) SessionID() string { return i.id }
