package resilience

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/kitebase/kitebase-mcp/idempotency"
)

// BreakerConfig says when a circuit opens. The zero value works.
type BreakerConfig struct {
	// Threshold is how many failed calls in a row open the circuit. Default 5; -1 means that it never opens.
	Threshold int
	// Cooldown is how long an open circuit refuses calls before it lets one through as a probe. Default 30s.
	Cooldown time.Duration
	// Probe asks the upstream something harmless before a call that was let through as a probe: if that fails, the call is
	// not made. Default nil: the call itself is the probe.
	Probe func(context.Context, mcp.CallToolRequest) error
	// Instead names a tool that could be used while the circuit is open, or returns "". Default nil: none.
	Instead func() string
	// Changed is told each change of the state, one after the other. It must return soon and not call the circuit. Default
	// nil.
	Changed func(CircuitStatus)
}

func (c BreakerConfig) withDefaults() BreakerConfig {
	c.Threshold = cmp.Or(c.Threshold, 5)
	c.Cooldown = cmp.Or(c.Cooldown, 30*time.Second)
	return c
}

func (c BreakerConfig) validate() error {
	switch {
	case c.Threshold < -1:
		return fmt.Errorf("Threshold is %d; give 1 or more, or -1 for a circuit that never opens", c.Threshold)
	case c.Cooldown < 0:
		return fmt.Errorf("Cooldown is %s; give a positive time", c.Cooldown)
	}
	return nil
}

// Circuit is a circuit breaker for one tool, shared by all its calls; it is safe for concurrent use. [Circuit.Layer] counts
// a call like this:
//
//	failure   unavailable, timeout (of ours), bad_answer, misconfigured
//	answer    success, not_found, invalid, conflict, key_reused, denied
//	nothing   rate_limited, in_progress, held, internal (a bug, a panic), canceled and whatever else ended after the caller
//	          had left, what the handler refused, a timeout that only the caller's own deadline made
//
// One failed call counts once, however often it was tried. An answer ends a row of failures, nothing does not. A probe that
// ends in any way frees its place: by a failure the circuit opens again, by an answer it closes, and after nothing the next
// call is the probe. Cooldowns are measured on the monotonic clock: setting the clock changes nothing.
type Circuit struct {
	config BreakerConfig
	probe  mcpserver.ToolHandlerFunc // nil: none
	state  circuit
}

// NewCircuit returns a closed circuit. What is wrong with config, [Policy.Validate] says.
func NewCircuit(config BreakerConfig) *Circuit {
	config = config.withDefaults()
	c := &Circuit{config: config, state: newCircuit(config)}
	if config.Probe != nil {
		// A Timeout around it tells a probe that was too slow from a caller who gave it no time.
		c.probe = Timeout(0)(func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return nil, config.Probe(ctx, request)
		})
	}
	return c
}

// Layer returns the middleware that refuses calls while the circuit is open.
func (c *Circuit) Layer(next mcpserver.ToolHandlerFunc) mcpserver.ToolHandlerFunc {
	return func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		result, err := c.admit(ctx, request, next)
		if errors.Is(err, errRefused) {
			return nil, c.refusal()
		}
		return result, err
	}
}

// errRefused says that a call was not let through.
var errRefused = errors.New("refused")

func (c *Circuit) admit(ctx context.Context, request mcp.CallToolRequest, next mcpserver.ToolHandlerFunc) (*mcp.CallToolResult, error) {
	pass, ok := c.state.admit()
	if !ok {
		return nil, errRefused
	}
	counts := nothing // what a panic leaves behind
	defer func() { c.state.ended(pass, counts) }()
	if pass.probe && c.probe != nil {
		if err := c.probed(ctx, request); err != nil {
			if counts = verdict(ctx, err); counts == nothing {
				return nil, notBegun(err)
			}
			return nil, errRefused
		}
	}
	result, err := next(ctx, request)
	counts = verdict(ctx, err)
	return result, err
}

// probed asks something harmless before the call that was let through as a probe. It stands inside the place of the probe,
// so that the answer counts. A caller who has left meanwhile gets nothing begun.
func (c *Circuit) probed(ctx context.Context, request mcp.CallToolRequest) error {
	_, err := c.probe(ctx, request)
	if caller := callFrom(ctx).caller; caller.Err() != nil {
		return &Failure{What: Canceled, Cause: context.Cause(caller)}
	}
	if err != nil && countsAs(err) == answer {
		return nil // the upstream answers: that is what was asked
	}
	return err
}

// notBegun is why a call was not made before which the upstream was asked in vain.
func notBegun(err error) error {
	return &Failure{
		What: kindOf(err), Says: reasonOf(err), Wait: retryAfter(err), Effect: idempotency.NotDone, NotRun: true, Cause: err,
	}
}

// refusal is what a call is told that was not let through.
func (c *Circuit) refusal() error {
	status := c.Status()
	// While a probe is under way nobody knows when it ends: soon.
	wait := max(time.Second, time.Until(status.ProbeAt))
	instead := ""
	if c.config.Instead != nil {
		instead = c.config.Instead()
	}
	return &Failure{
		What: CircuitOpen, Says: circuitOpen(status.FailingSince, wait, instead), Effect: idempotency.NotDone, Wait: wait, NotRun: true,
	}
}
