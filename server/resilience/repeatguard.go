package resilience

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
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
	config = config.withDefaults()
	seen, err := lru.New[callName, failures](config.Calls)
	if err != nil {
		panic(err) // only for a size below 1
	}
	g := &repeatGuard{config: config, seen: seen}
	return func(next mcpserver.ToolHandlerFunc) mcpserver.ToolHandlerFunc {
		return func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if g.minds.Load() { // while nothing fails for good, no call needs its name
				if err := g.blocked(g.name(ctx, request)); err != nil {
					return nil, err
				}
			}
			result, err := next(ctx, request)
			if g.minds.Load() || permanent(err) {
				g.ended(g.name(ctx, request), err)
			}
			return result, err
		}
	}
}

func (c RepeatGuardConfig) withDefaults() RepeatGuardConfig {
	c.Failures, c.Within, c.Calls = cmp.Or(c.Failures, 2), cmp.Or(c.Within, 2*time.Minute), cmp.Or(c.Calls, 1000)
	if c.Caller == nil {
		c.Caller = bySession
	}
	return c
}

func (c RepeatGuardConfig) validate() error {
	if c.Failures < 0 || c.Within < 0 || c.Calls < 0 {
		return fmt.Errorf("Failures is %d, Within %s and Calls %d; give positive ones", c.Failures, c.Within, c.Calls)
	}
	return nil
}

type repeatGuard struct {
	config RepeatGuardConfig

	mu    sync.Mutex
	seen  *lru.Cache[callName, failures]
	minds atomic.Bool // seen is not empty
}

// callName is one call by one caller. It is a hash, so that a long message takes no more memory than a short one.
type callName [sha256.Size]byte

// name brings the arguments into one form: sorted names, no spacing, one form of numbers.
func (g *repeatGuard) name(ctx context.Context, request mcp.CallToolRequest) callName {
	arguments, err := json.Marshal(request.Params.Arguments)
	if err != nil { // what came as JSON can be written as JSON
		arguments = fmt.Append(nil, request.Params.Arguments)
	}
	return sha256.Sum256(fmt.Appendf(nil, "%q %q %s", g.config.Caller(ctx, request), request.Params.Name, arguments))
}

// failures are those of one call, in a row and of one kind.
type failures struct {
	kind  Kind
	count int
	last  time.Time
}

func (g *repeatGuard) blocked(call callName) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	before, ok := g.seen.Get(call)
	if !ok || before.count < g.config.Failures || time.Since(before.last) >= g.config.Within {
		return nil
	}
	return &Failure{What: before.kind, Says: blockedCall(before.count), Effect: idempotency.NotDone, NotRun: true, whole: true}
}

func (g *repeatGuard) ended(call callName, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	defer func() { g.minds.Store(g.seen.Len() > 0) }()
	if !permanent(err) {
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

// permanent reports whether the same call would fail in the same way. What a bug does, nobody knows.
func permanent(err error) bool {
	if err == nil {
		return false
	}
	switch kindOf(err) {
	case Invalid, NotFound, Conflict, KeyReused, Denied, Misconfigured:
		return true
	default:
		return false
	}
}

func bySession(ctx context.Context, _ mcp.CallToolRequest) string {
	if session := mcpserver.ClientSessionFromContext(ctx); session != nil {
		return session.SessionID()
	}
	return ""
}
