package web

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"

	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/kitebase/kitebase-mcp/server/access"
	"github.com/kitebase/kitebase-mcp/server/wording"
)

// A Server serves one MCP server over HTTP. It is safe for concurrent use.
type Server struct {
	cfg        Config
	mcp        *mcpserver.MCPServer
	streamable *mcpserver.StreamableHTTPServer
	access     *access.Checker
	metadata   *metadata
	calls      *gate
	streams    *streams
	sessions   sessions
	health     *health
}

// New returns a Server for mcp, or what is wrong with cfg as by [Config.Validate]. It starts nothing.
func New(mcp *mcpserver.MCPServer, cfg Config) (*Server, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	calls := newGate(cfg.MaxCalls)
	checker, err := access.New(cfg.Access())
	if err != nil {
		return nil, err
	}
	return &Server{
		cfg:        cfg,
		mcp:        mcp,
		streamable: newStreamable(mcp, &cfg),
		calls:      calls,
		streams:    &streams{limit: cfg.MaxStreams, idle: cfg.SessionIdle, still: checker.Still},
		health:     &health{ready: cfg.Ready, draining: calls.isClosed, log: cfg.Logger},
		access:     checker,
		metadata:   newMetadata(&cfg),
	}, nil
}

// Handler returns the handler of all paths, for a server that listens on [Config.Addr]. Limits of connections, timeouts
// of reading and the draining at the end are [Server.Serve]'s; prefer that.
func (s *Server) Handler() http.Handler { return s.handler(isLoopback(s.cfg.Addr)) }

// handler's local says whether only this machine can connect.
func (s *Server) handler(local bool) http.Handler {
	fence := newFence(&s.cfg, local)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reply := newReply(w, &s.cfg)
		defer reply.finish()
		defer func() {
			if p := recover(); p != nil {
				s.cfg.Logger.Error("panic while serving HTTP", "path", wording.Path(r.URL.Path), "panic", wording.Panic(p))
				reply.fail(failedText)
			}
		}()
		if refused := s.admit(fence, reply, r); refused != nil {
			level := slog.LevelInfo
			if refused.denied {
				level = slog.LevelWarn // somebody known tried what it may not do
			}
			s.cfg.Logger.Log(r.Context(), level, "request refused", "method", wording.Verb(r.Method), "path", wording.Path(r.URL.Path), "remote", r.RemoteAddr,
				"status", refused.status, "reason", cmp.Or(refused.reason, refused.text))
			reply.refuse(refused)
		}
	})
}

// admit leads r past the fence to its path.
func (s *Server) admit(fence *fence, w *reply, r *http.Request) *refusal {
	if s.health.serve(w, r) {
		return nil
	}
	if isSurplus(r.Context()) {
		w.Header().Set("Connection", "close")
		return busy("The server is busy: it has as many connections as it takes.")
	}
	if s.metadata.serve(w, r) {
		return nil
	}
	refused, preflight := fence.check(w.Header(), r)
	if refused != nil {
		return refused
	}
	if preflight {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	ctx, refused := s.recognise(r)
	if refused != nil {
		return refused
	}
	return s.route(ctx, w, r)
}

// route's ctx is that of r with its caller.
func (s *Server) route(ctx context.Context, w *reply, r *http.Request) *refusal {
	method, serve := http.MethodPost, s.serveMCP
	switch path := r.URL.Path; {
	case path == "/mcp":
	case path == "/message":
		serve = s.serveSSEMessage
	case path == "/sse":
		method, serve = http.MethodGet, s.serveSSE
	case path == "/metrics" && s.cfg.Metrics != nil:
		method, serve = http.MethodGet, s.serveMetrics
	default:
		return &refusal{status: http.StatusNotFound, code: serverError, text: "There is nothing at this path."}
	}
	if r.Method != method {
		return wrongMethod(method)
	}
	return serve(ctx, w, r)
}

func (s *Server) serveMetrics(_ context.Context, w *reply, r *http.Request) *refusal {
	s.cfg.Metrics.ServeHTTP(w, r)
	return nil
}
