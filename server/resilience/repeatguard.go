package resilience

import (
	"cmp"
	"context"
	"encoding/json"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/kitebase/kitebase-mcp/idempotency"
)

// RepeatGuardConfig says when a call is not run because it cannot succeed. The zero value works.
type RepeatGuardConfig struct {
	// Failures is how many equal failures in a row block the next same call. Default 2.
	Failures int
	// Within is how long a failure counts. Default 2m.
	Within time.Duration
	// Calls is how many different calls are remembered, the latest ones. Default 1,000.
	Calls int
	// Caller tells callers apart: one is not blocked for another's failures. Default: by the MCP session.
	Caller func(context.Context, mcp.CallToolRequest) string
}

// RepeatGuard returns the layer that does not run a call which has just failed twice in the same way that no repeat can
// mend: the same tool, the same arguments whatever their order and spacing, the same caller. Any success, another kind of
// failure, or the time resets it. Transient failures are not its business; they are the circuit's.
func RepeatGuard(config RepeatGuardConfig) mcpserver.ToolHandlerMiddleware {
	config.Failures, config.Within = cmp.Or(config.Failures, 2), cmp.Or(config.Within, 2*time.Minute)
	if config.Caller == nil {
		config.Caller = bySession
	}
	seen, err := lru.New[string, failures](max(1, cmp.Or(config.Calls, 1000)))
	if err != nil {
		panic(err) // only for a size below 1
	}
	g := &repeatGuard{config: config, seen: seen}
	return func(next mcpserver.ToolHandlerFunc) mcpserver.ToolHandlerFunc {
		return func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			call := config.Caller(ctx, request) + "\x00" + request.Params.Name + "\x00" + canonical(request)
			if err := g.blocked(call); err != nil {
				return nil, err
			}
			result, err := next(ctx, request)
			g.ended(call, err)
			return result, err
		}
	}
}

type repeatGuard struct {
	config RepeatGuardConfig

	mu   sync.Mutex
	seen *lru.Cache[string, failures]
}

// failures are those of one call, in a row and of one kind.
type failures struct {
	kind  Kind
	count int
	last  time.Time
}

func (g *repeatGuard) blocked(call string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	before, ok := g.seen.Get(call)
	if !ok || before.count < g.config.Failures || time.Since(before.last) >= g.config.Within {
		return nil
	}
	return &Failure{What: before.kind, Says: blockedCall(before.count), Effect: idempotency.NotDone, NotRun: true, whole: true}
}

func (g *repeatGuard) ended(call string, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err == nil || !permanent(err) {
		g.seen.Remove(call)
		return
	}
	before, _ := g.seen.Get(call)
	now := failures{kind: kindOf(err), count: 1, last: time.Now()}
	if before.kind == now.kind && now.last.Sub(before.last) < g.config.Within {
		now.count = before.count + 1
	}
	g.seen.Add(call, now)
}

// permanent reports whether the same call would fail in the same way.
func permanent(err error) bool {
	switch kindOf(err) {
	case Invalid, NotFound, Conflict, KeyReused, Denied:
		return true
	default:
		return false
	}
}

// canonical returns the arguments in one form: sorted names, no spacing, one form of numbers.
func canonical(request mcp.CallToolRequest) string {
	data, err := json.Marshal(request.Params.Arguments)
	if err != nil {
		return ""
	}
	return string(data)
}

func bySession(ctx context.Context, _ mcp.CallToolRequest) string {
	if session := mcpserver.ClientSessionFromContext(ctx); session != nil {
		return session.SessionID()
	}
	return ""
}
