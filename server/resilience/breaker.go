package resilience

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
	"github.com/sony/gobreaker/v2"

	"github.com/kitebase/kitebase-mcp/idempotency"
)

// BreakerConfig says when a circuit opens. The zero value works.
type BreakerConfig struct {
	// Threshold is how many failed calls in a row open the circuit. Default 5; -1 means that it never opens.
	Threshold int
	// Cooldown is how long an open circuit refuses calls before it lets one through as a probe. Default 30s.
	Cooldown time.Duration
	// Probe asks the upstream something harmless in place of a call that changes something: if it fails, the call is not
	// made. Default nil: the call itself is the probe.
	Probe func(context.Context, mcp.CallToolRequest) error
	// Instead names a tool that could be used while the circuit is open, or returns "". Default nil: none.
	Instead func() string
	// Changed is told each change of the state, with the tool's name as it is known from the first call. It must not call
	// the circuit. Default nil.
	Changed func(CircuitStatus)
}

// CircuitState is where a circuit stands.
type CircuitState string

// The states of a circuit.
const (
	Closed   CircuitState = "closed"
	Open     CircuitState = "open"
	HalfOpen CircuitState = "half-open"
)

// CircuitStatus is what there is to know about a circuit.
type CircuitStatus struct {
	State CircuitState
	// Since is when it came into that state, zero if it never left the first.
	Since time.Time
	// ProbeAt is when the next call is let through as a probe, zero unless the circuit is open.
	ProbeAt time.Time
}

// Circuit is a circuit breaker for one tool, shared by all its calls. Its [Circuit.Layer] counts like this:
//
//	failure   unavailable, timeout (of ours), bad_answer, misconfigured
//	answer    success, not_found, invalid, conflict, key_reused, denied
//	nothing   rate_limited, in_progress, held, canceled, internal (a bug, a panic), what the handler refused, a timeout
//	          that only the caller's own deadline made
//
// One failed call counts once, however often it was tried. A probe that ends in any way frees its place. Cooldowns are
// measured on the monotonic clock: setting the clock changes nothing.
type Circuit struct {
	config  BreakerConfig
	breaker *gobreaker.CircuitBreaker[*mcp.CallToolResult]

	mu     sync.Mutex
	opened time.Time // when it opened last
	since  time.Time // when it came into its state
}

// NewCircuit returns a closed circuit.
func NewCircuit(config BreakerConfig) *Circuit {
	config.Threshold = cmp.Or(config.Threshold, 5)
	config.Cooldown = cmp.Or(config.Cooldown, 30*time.Second)
	c := &Circuit{config: config}
	c.breaker = gobreaker.NewCircuitBreaker[*mcp.CallToolResult](gobreaker.Settings{
		MaxRequests: 1,
		Timeout:     config.Cooldown,
		ReadyToTrip: func(counts gobreaker.Counts) bool {
			return config.Threshold > 0 && int(counts.ConsecutiveFailures) >= config.Threshold
		},
		IsSuccessful:  func(err error) bool { return err == nil || countsAs(err) == answer },
		IsExcluded:    func(err error) bool { return err != nil && countsAs(err) == nothing },
		OnStateChange: func(_ string, _, to gobreaker.State) { c.changed(to) },
	})
	return c
}

type weight int

const (
	failure weight = iota
	answer
	nothing
)

// countsAs says what a failed call means for the circuit.
func countsAs(err error) weight {
	var told *Failure
	if errors.As(err, &told) && told.theirs {
		return nothing
	}
	if refused(err) {
		return nothing
	}
	switch kindOf(err) {
	case Unavailable, TimedOut, BadAnswer, Misconfigured:
		return failure
	case NotFound, Invalid, Conflict, KeyReused, Denied:
		return answer
	default:
		return nothing
	}
}

func (c *Circuit) changed(to gobreaker.State) {
	c.mu.Lock()
	c.since = time.Now()
	if to == gobreaker.StateOpen {
		c.opened = c.since
	}
	status := c.status(to)
	c.mu.Unlock()
	if c.config.Changed != nil {
		c.config.Changed(status)
	}
}

// status returns what is known; the caller holds the lock.
func (c *Circuit) status(state gobreaker.State) CircuitStatus {
	status := CircuitStatus{State: Closed, Since: c.since}
	switch state {
	case gobreaker.StateOpen:
		status.State, status.ProbeAt = Open, c.opened.Add(c.config.Cooldown)
	case gobreaker.StateHalfOpen:
		status.State = HalfOpen
	}
	return status
}

// Status returns where the circuit stands now.
func (c *Circuit) Status() CircuitStatus {
	state := c.breaker.State()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.status(state)
}

// Layer returns the middleware that refuses calls while the circuit is open.
func (c *Circuit) Layer(next mcpserver.ToolHandlerFunc) mcpserver.ToolHandlerFunc {
	return func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		result, err := c.breaker.Execute(func() (*mcp.CallToolResult, error) {
			if err := c.probe(ctx, request); err != nil {
				return nil, &notProbed{err}
			}
			return next(ctx, request)
		})
		switch {
		case errors.Is(err, gobreaker.ErrOpenState), errors.Is(err, gobreaker.ErrTooManyRequests):
			return nil, c.refusal()
		case isNotProbed(err):
			return nil, c.refusal()
		}
		return result, err
	}
}

// probe asks something harmless first if this call is the one that was let through. It stands inside the place of the
// probe, so that the answer counts.
func (c *Circuit) probe(ctx context.Context, request mcp.CallToolRequest) error {
	if c.config.Probe == nil || c.breaker.State() != gobreaker.StateHalfOpen {
		return nil
	}
	ctx, cancel := withDeadline(ctx)
	defer cancel()
	err := c.config.Probe(ctx, request)
	if err != nil && countsAs(err) == answer {
		return nil // the upstream answers: that is what was asked
	}
	return err
}

// notProbed is the failure of a probe in place of the call.
type notProbed struct{ error }

func (n *notProbed) Unwrap() error { return n.error }

func isNotProbed(err error) bool {
	var probe *notProbed
	return errors.As(err, &probe)
}

// refusal is what a call is told that was not let through.
func (c *Circuit) refusal() error {
	c.mu.Lock()
	opened := c.opened
	c.mu.Unlock()
	// While a probe is under way, when it ends is not known: soon.
	wait := max(time.Second, time.Until(opened.Add(c.config.Cooldown)))
	instead := ""
	if c.config.Instead != nil {
		instead = c.config.Instead()
	}
	return &Failure{
		What: CircuitOpen, Says: circuitOpen(opened, wait, instead), Effect: idempotency.NotDone, Wait: wait, NotRun: true,
	}
}
