package web

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/kitebase/kitebase-mcp/server/access"
)

// serveSSE serves GET /sse: a new session, whose stream carries all answers and notifications until the client leaves,
// nothing was said for too long, or the server closes. Its end cancels what the session has under way.
func (s *Server) serveSSE(ctx context.Context, w *reply, _ *http.Request) *refusal {
	stream, refused := s.streams.start(ctx)
	if refused != nil {
		return refused
	}
	defer s.streams.stop(stream)
	one := newSession(rand.Text())
	one.stream = stream
	if err := s.mcp.RegisterSession(stream.ctx, one); err != nil {
		panic(fmt.Sprintf("registering an SSE session: %v", err)) // only a repeated random id can
	}
	defer s.mcp.UnregisterSession(context.WithoutCancel(stream.ctx), one.id)
	s.sessions.add(one)
	defer s.sessions.remove(one)

	w.Header().Set("Content-Type", "text/event-stream")
	w.stream = stream
	_, err := fmt.Fprintf(w, "event: endpoint\ndata: /message?sessionId=%s\n\n", one.id)
	for err == nil {
		w.Flush()
		err = one.writeNext(stream.ctx, w)
	}
	s.cfg.Logger.Debug("SSE session ended", "reason", err)
	return nil
}

// writeNext writes what comes next. Notifications that were sent before an answer go out before it.
func (s *session) writeNext(ctx context.Context, w *reply) error {
	var answer json.RawMessage
	select {
	case n := <-s.notifications:
		return writeEvent(w, n)
	case answer = <-s.answers:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	for {
		select {
		case n := <-s.notifications:
			if err := writeEvent(w, n); err != nil {
				return err
			}
			continue
		default:
		}
		_, err := w.Write(event(answer))
		return err
	}
}

func writeEvent(w *reply, n mcp.JSONRPCNotification) error {
	data, err := json.Marshal(n)
	if err != nil {
		return nil // a notification that is no JSON is lost, and nothing depends on it
	}
	_, err = w.Write(event(data))
	return err
}

// serveSSEMessage serves POST /message: 202 at once, the answer on the session's stream.
func (s *Server) serveSSEMessage(sent context.Context, w *reply, r *http.Request) *refusal {
	one := s.sessions.find(r.URL.Query().Get("sessionId"))
	if one == nil || !one.stream.heldBy(sent) {
		return &refusal{status: http.StatusNotFound, code: serverError, text: "There is no such session. Connect again."}
	}
	m, refused := readMessage(w, r, s.cfg.BodyLimit)
	if refused != nil {
		return refused
	}
	if m.batch {
		return badRequest(mcp.INVALID_REQUEST, "This transport takes one message per request.")
	}
	one.stream.renew(sent)
	one.stream.touch()
	ctx := one.stream.ctx
	if caller, ok := access.From(sent); ok {
		ctx = access.With(ctx, caller) // with the rights of now, not of when the stream was opened
	}
	ctx = s.mcp.WithContext(s.cfg.Context(ctx, m.arrived), one)
	if refused := s.permit(ctx, m); refused != nil {
		w.id = m.ID
		return refused
	}
	switch {
	case m.cancels() != "":
		one.cancel(m.cancels())
	case m.isListen(): // which would hold a place beside calls for ever, and this stream carries notifications anyway
		w.id = m.ID
		return badRequest(mcp.METHOD_NOT_FOUND, "This transport has no subscriptions: the session's stream carries every notification.")
	case m.isRequest():
		if refused := s.run(ctx, one, m); refused != nil {
			w.id = m.ID
			return refused
		}
	case m.Method != "": // else an answer, and nothing was asked
		s.handle(ctx, m)
	}
	w.WriteHeader(http.StatusAccepted)
	return nil
}

// run starts a request, which counts as under way until its answer is on the stream.
func (s *Server) run(ctx context.Context, one *session, m *message) *refusal {
	if refused := s.calls.enter(m); refused != nil {
		return refused
	}
	id := string(m.ID)
	callCtx, ok := one.begin(ctx, id)
	if !ok {
		s.calls.leave(m)
		return badRequest(mcp.INVALID_REQUEST, "A request with this id is under way. Nothing was run.")
	}
	go func() {
		defer s.calls.leave(m)
		answer := s.handle(callCtx, m)
		if !one.end(id) || answer == nil {
			return
		}
		select {
		case one.answers <- answer:
		case <-ctx.Done(): // nobody is left to read it
		}
	}()
	return nil
}
