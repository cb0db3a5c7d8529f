package web

import (
	"bytes"
	"context"
	"crypto/rand"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

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

// delegate has mcp-go's server answer a message that is not [isDirect].
func (s *Server) delegate(w *reply, r *http.Request, m *message) {
	if id := r.Header.Get(mcpserver.HeaderKeySessionID); id != "" {
		r.Header = r.Header.Clone()
		r.Header.Set(mcpserver.HeaderKeySessionID, ownSession(r.Context(), id))
	}
	r.Body = io.NopCloser(bytes.NewReader(m.raw))
	public := &publicReply{reply: w}
	s.streamable.ServeHTTP(public, r)
	if public.failed.Load() {
		s.logFailed(r.Context(), m)
	}
}

// A publicReply is a reply as mcp-go writes to it. Its protocol errors go out in public words.
type publicReply struct {
	*reply
	failed atomic.Bool // one was written
}

// Write implements [http.ResponseWriter], as [reply.Write] does.
func (p *publicReply) Write(data []byte) (int, error) {
	if !wording.Failed(data) {
		return p.reply.Write(data)
	}
	p.failed.Store(true)
	if _, err := p.reply.Write(wording.Answer(data)); err != nil {
		return 0, err
	}
	return len(data), nil
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
