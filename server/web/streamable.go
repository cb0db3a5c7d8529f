package web

import (
	"context"
	"crypto/rand"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/kitebase/kitebase-mcp/server/access"
)

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
	s.delegate(w, r.WithContext(ctx), m)
	return nil
}

// ownSession makes the session id of a request, by which mcp-go files calls for their cancels, one of the caller of ctx: whoever
// else learns the id cannot cancel them.
func ownSession(ctx context.Context, id string) string {
	if caller, ok := access.From(ctx); ok {
		return caller.Key() + "." + id
	}
	return id
}
