package server

import (
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/kitebase/kitebase-mcp/fakeapi"
	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/server/metrics"
	"github.com/kitebase/kitebase-mcp/server/resilience"
	"github.com/kitebase/kitebase-mcp/server/stdio"
	"github.com/kitebase/kitebase-mcp/server/web"
	"github.com/kitebase/kitebase-mcp/tools"
	"github.com/kitebase/kitebase-mcp/tools/kitebase"
)

// Server serves the guarded tools. It is safe for concurrent use; close it when it is no longer needed.
type Server struct {
	config   Config
	mcp      *mcpserver.MCPServer
	client   *kitebase.Client
	embedded *fakeapi.Server
	later    later
	budget   *resilience.RetryBudget
	circuits map[string]*resilience.Circuit
	copies   *copies
	names    []string // of the tools that are offered
	tallies  *tallies
	audience audience
	store    *usedStore
	watch    *ledgerWatch
	metrics  *metrics.Metrics // nil: nothing is counted
	ending   atomic.Bool
}

// New joins tools, policies and Kitebase. It does not ask Kitebase anything, so that it works while Kitebase is down.
func New(config Config) (*Server, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	s := &Server{config: config.withDefaults()}
	if s.config.RetryBudget >= 0 {
		s.budget = resilience.NewRetryBudget(s.config.RetryBudget)
	}
	if err := s.connect(); err != nil {
		return nil, err
	}
	s.copies = newCopies(s.config.CopiesFor, s.config.SettleAfter)
	s.circuits = s.newCircuits()
	s.names, _ = s.config.ToolNames() // as Validate found
	s.tallies = newTallies(s.names)
	s.store = &usedStore{Store: s.config.Store}
	s.config.Store = s.store
	s.watch = &ledgerWatch{look: s.lookAtLedger, start: func(f func(context.Context)) { s.later.run(0, f) }}
	if s.config.Metrics {
		s.metrics = metrics.New(metrics.Config{Tools: s.names, Version: s.config.Version, Read: s.reading})
	}
	s.mcp = mcpserver.NewMCPServer("kitebase-mcp", s.config.Version,
		mcpserver.WithTitle("Kitebase help desk"),
		mcpserver.WithInstructions(instructions),
		mcpserver.WithToolCapabilities(s.config.HideOpenTools),
		mcpserver.WithResourceCapabilities(true, false),
		mcpserver.WithHooks(s.hooks()),
	)
	s.addStatus()
	for _, tool := range tools.Table(s.client) {
		if !s.config.offers(tool) {
			continue
		}
		guarded, err := s.guard(tool)
		if err != nil {
			s.Close()
			return nil, err
		}
		s.mcp.AddTools(s.metered(guarded))
	}
	return s, nil
}

// guard puts a tool inside its policy.
func (s *Server) guard(tool tools.Tool) (mcpserver.ServerTool, error) {
	handler := s.config.Tracing.Attempt(tool.Handle)
	switch tool.Effect {
	case tools.Sets:
		handler = s.copies.writing(assignTicket, handler)
	case tools.Sends:
		handler = s.copies.writing(replyTicket, handler)
	}
	guarded, err := resilience.Wrap(mcpserver.ServerTool{Tool: tool.MCP(), Handler: handler}, s.policy(tool))
	if tool.Effect == tools.Sends {
		guarded.Handler = s.copies.reminding(guarded.Handler)
	}
	guarded.Handler = s.config.Tracing.Call(s.audited(tool, guarded.Handler))
	return guarded, err
}

// policy says how a tool is guarded: all alike against an outage, each with a circuit of its own and one budget of retries;
// reads have copies to fall back on, writes are on record, and a reply has a key and a ledger that knows it.
func (s *Server) policy(tool tools.Tool) resilience.Policy {
	policy := s.config.Guard
	policy.Observe = s.observe
	policy.Budget = s.budget
	policy.Circuit = s.circuits[tool.Name]
	policy.Bulkhead = &resilience.BulkheadConfig{}
	if !s.config.NoRepeatGuard {
		policy.RepeatGuard = &resilience.RepeatGuardConfig{Caller: callerOf}
	}
	switch {
	case tool.Name == "get_ticket":
		policy.Fallback = s.copies.ofTickets()
	case tool.Name == "search_help":
		policy.Fallback = s.copies.ofArticles()
	case tool.Effect == tools.Sets:
		policy.Record = &resilience.RecordConfig{Ledger: s.config.ledger(), Group: assignTicket}
	case tool.Effect == tools.Sends:
		replies := s.replies()
		policy.Keyed, policy.Replayed = replies.keyed, tools.ReplayedUpstream
		if !s.config.NoDedupe {
			dedupe := s.dedupe(replies)
			policy.Dedupe = &dedupe
		}
	}
	return policy
}

func (s *Server) replies() *replies {
	r := &replies{client: s.client, ledger: s.config.ledger(), settleAfter: s.config.SettleAfter, patience: s.config.patience(),
		log: s.config.Logger, tracing: s.config.Tracing}
	r.keyless.Store(s.config.IgnoresKeys)
	return r
}

func (s *Server) dedupe(replies *replies) resilience.DedupeConfig {
	return resilience.DedupeConfig{
		Ledger:   replies.ledger,
		Window:   s.config.DedupeWindow,
		Identify: replies.identify,
		Settle:   replies.settle,
		Renewed:  replies.renewed,
		Verify:   replies.verify,
		Later:    s.later.run,
		Settled:  s.settled,
		Warning:  s.config.Warning,
		Noun:     "reply",
		Check:    "get_ticket",
		Name:     tools.ReplyName,
		SentAt:   tools.ReplySentAt,
	}
}

// Settle looks once for every unconfirmed reply in the ledger of config, as a server does at its start, and returns the
// records that were open as they then stand. It only reads.
func Settle(ctx context.Context, config Config) ([]idempotency.Record, error) {
	s := &Server{config: config.withDefaults()}
	if err := s.connect(); err != nil {
		return nil, err
	}
	defer s.Close()
	dedupe := s.dedupe(s.replies())
	dedupe.Later = nil
	return resilience.SettleOpen(ctx, dedupe)
}

// connect makes the client of Kitebase, and a fake Kitebase if none was named.
func (s *Server) connect() (err error) {
	if s.config.URL == "" {
		s.embedded, err = fakeapi.Start("127.0.0.1:0", fakeapi.Config{})
		if err != nil {
			return fmt.Errorf("starting the embedded fake Kitebase: %w", err)
		}
		s.config.URL = s.embedded.URL()
	}
	s.client, err = kitebase.New(kitebase.Config{
		BaseURL: s.config.URL, Token: s.config.Token, Version: s.config.Version, DialContext: s.config.DialContext,
		Headers: s.config.Tracing.Headers(),
	})
	if err != nil {
		s.Close()
	}
	return err
}

// Embedded returns the URL of the embedded fake Kitebase, or "" if the server works on another one.
func (s *Server) Embedded() string {
	if s.embedded == nil {
		return ""
	}
	return s.embedded.URL()
}

// ServeStdio serves one client on in and out until in ends or ctx does, and everything under way is answered.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	defer s.endWith(ctx)()
	return stdio.Serve(context.WithValue(ctx, stdioKey{}, true), s.mcp, in, out, stdio.Config{
		Logger: s.config.Logger, Context: resilience.WithArrival, Drain: s.drain(),
	})
}

// ServeHTTP serves many clients on listener until ctx ends and everything under way is answered. What of config depends on
// the server is set by it.
func (s *Server) ServeHTTP(ctx context.Context, listener net.Listener, config web.Config) error {
	defer s.endWith(ctx)()
	config.Logger, config.Context, config.DrainTimeout = s.config.Logger, resilience.WithArrival, s.drain()
	config.Metrics, config.Ready = s.Metrics(), s.Ready
	config.Tools = Rights()
	served, err := web.New(s.mcp, config)
	if err != nil {
		listener.Close()
		return err
	}
	return served.Serve(ctx, listener)
}

// Drain returns how long a server whose calls have this deadline waits at its end for those under way: longer than any of
// them takes. Whoever stops it must not kill it before.
func Drain(deadline time.Duration) time.Duration { return max(time.Minute, deadline+10*time.Second) }

func (s *Server) drain() time.Duration { return Drain(s.config.Guard.CallDeadline) }

// Close ends what [New] began: what was to be done later, idle connections, and the embedded fake if there is one.
func (s *Server) Close() {
	s.later.close()
	if s.client != nil {
		s.client.Close()
	}
	if s.embedded != nil {
		s.embedded.Close()
	}
}

// ProtocolRevisions returns the revisions of MCP that the server speaks, the newest first.
func ProtocolRevisions() []string { return slices.Clone(mcp.ValidProtocolVersions) }
