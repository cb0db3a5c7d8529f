package server

import (
	"context"
	"net"
	"net/http"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/kitebase/kitebase-mcp/server/metrics"
	"github.com/kitebase/kitebase-mcp/server/resilience"
	"github.com/kitebase/kitebase-mcp/server/web"
)

// glance is how long a scrape waits for a look at the ledger. If that takes longer, the one before counts.
const glance = 250 * time.Millisecond

// Metrics returns the handler of what [Config.Metrics] counts, nil if that is off.
func (s *Server) Metrics() http.Handler {
	if s.metrics == nil {
		return nil
	}
	return s.metrics.Handler()
}

// ServeMonitor serves metrics and health, and no calls, on a listener of this machine until ctx ends.
func (s *Server) ServeMonitor(ctx context.Context, listener net.Listener) error {
	return web.ServeMonitor(ctx, listener, web.Config{Metrics: s.Metrics(), Ready: s.Ready, Logger: s.config.Logger})
}

// metered counts the calls under way of a guarded tool.
func (s *Server) metered(guarded mcpserver.ServerTool) mcpserver.ServerTool {
	counted, next := s.metrics.Tool(guarded.Tool.Name), guarded.Handler
	if counted == nil {
		return guarded
	}
	guarded.Handler = func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		counted.Began()
		defer counted.Ended()
		return next(ctx, request)
	}
	return guarded
}

// reading says how things stand, for a scrape. It neither waits for long nor is the reason for opening the ledger: a server
// with a tool that sends opens it a second after its start, to settle what an earlier one left open.
func (s *Server) reading() metrics.Reading {
	now := metrics.Reading{Circuits: make(map[string]resilience.CircuitState, len(s.names))}
	for _, name := range s.names {
		now.Circuits[name] = s.circuits[name].Status().State
	}
	if s.budget != nil {
		tokens, most := s.budget.Left()
		now.Budget = &metrics.Budget{Tokens: tokens, Most: most, Paused: s.budget.Exhausted()}
	}
	if !s.store.used.Load() {
		return now
	}
	seen := s.watch.state(glance)
	if seen.at.IsZero() {
		return now
	}
	now.Ledger = &metrics.Ledger{Usable: seen.err == nil}
	if open := seen.unknowns; open != nil {
		now.Ledger.Unknown = &metrics.Unknown{Replies: open.replies}
		if !open.oldest.IsZero() {
			now.Ledger.Unknown.OldestAge = max(0, time.Since(open.oldest))
		}
	}
	return now
}
