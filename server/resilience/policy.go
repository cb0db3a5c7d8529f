package resilience

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
)

// Policy says how one tool is guarded. The zero value works.
type Policy struct {
	// Upstream is the name of the guarded service in texts. Default "Upstream".
	Upstream string
	// Attempts is how often a call is tried at the most, if the tool is safe to repeat; other tools are tried once.
	// Default 2; -1 means once.
	Attempts int
	// AttemptTimeout is how long one attempt may take. Default 5s; -1 means as long as the call.
	AttemptTimeout time.Duration
	// CallDeadline is how long a whole call may take from its arrival (see [WithArrival]), waits included. A caller may
	// ask for less by `_meta["io.kitebase/deadline-ms"]`. Default 25s, since hosts give up at 60s or earlier; -1 means no limit.
	CallDeadline time.Duration
	// BackoffBase is the upper bound of the random wait before the second attempt; it doubles with each further one.
	// Default 100ms.
	BackoffBase time.Duration
	// BackoffCap bounds the doubling. Default 2s.
	BackoffCap time.Duration
	// Keyed reports whether the handler sends an idempotency key which the upstream honours, so that a repeat is harmless.
	// It is asked before each attempt. Default nil: no.
	Keyed func() bool
	// Replayed reports whether the upstream said of a success that it had the call under this key before, and when. Default
	// nil: it never says so.
	Replayed func(*mcp.CallToolResult) (first time.Time, replayed bool)
	// Budget limits the retries over all tools that share it. Default nil: no limit.
	Budget *RetryBudget
	// Circuit refuses calls while the upstream keeps failing. Default nil: none.
	Circuit *Circuit
	// Bulkhead limits the calls under way. The zero value works; a nil one is off. Default nil.
	Bulkhead *BulkheadConfig
	// Fallback answers failed reads from what was answered before; it is for read-only tools alone. Default nil: off.
	Fallback *FallbackConfig
	// RepeatGuard does not run calls that cannot succeed. The zero value works; a nil one is off. Default nil.
	RepeatGuard *RepeatGuardConfig
	// Dedupe makes repeats of a call that succeeded, or that may have, harmless. Default nil: off.
	Dedupe *DedupeConfig
	// Record writes down how calls ended that Dedupe does not watch. Default nil: off.
	Record *RecordConfig
	// Logger gets one record per call and one per wait, each with the id of the call. Default: none.
	Logger *slog.Logger
	// NewID names the calls that have no name yet (see [WithCallID]); share one among the tools of a server. Default: a
	// [CallIDs] of its own.
	NewID func() string
	// Observe is told how each call ended, before its caller is. It is called on the goroutine of the call: it must return
	// at once, must not panic, and must be safe for concurrent use. Default nil: nobody is told, at no cost.
	Observe func(context.Context, Observation)
}

func (p Policy) withDefaults() Policy {
	p.Upstream = cmp.Or(p.Upstream, "Upstream")
	p.Attempts = max(1, cmp.Or(p.Attempts, 2))
	p.AttemptTimeout = cmp.Or(p.AttemptTimeout, 5*time.Second)
	p.CallDeadline = cmp.Or(p.CallDeadline, 25*time.Second)
	p.BackoffBase = cmp.Or(p.BackoffBase, 100*time.Millisecond)
	p.BackoffCap = cmp.Or(p.BackoffCap, 2*time.Second)
	p.Logger = cmp.Or(p.Logger, slog.New(slog.DiscardHandler))
	if p.NewID == nil {
		p.NewID = CallIDs()
	}
	return p
}

// Validate reports the first field that makes no sense, naming it.
func (p Policy) Validate() error {
	q := p.withDefaults()
	switch {
	case p.Attempts < -1:
		return fmt.Errorf("Attempts is %d; give 1 or more, or -1 for once", p.Attempts)
	case p.AttemptTimeout < -1:
		return fmt.Errorf("AttemptTimeout is %s; give a positive time, or -1 for no limit", p.AttemptTimeout)
	case p.CallDeadline < -1:
		return fmt.Errorf("CallDeadline is %s; give a positive time, or -1 for no limit", p.CallDeadline)
	case p.BackoffBase < 0 || p.BackoffCap < 0:
		return errors.New("a negative BackoffBase or BackoffCap makes no sense; give a positive time")
	case q.BackoffCap < q.BackoffBase:
		return fmt.Errorf("BackoffCap %s is below BackoffBase %s; give at least as much", q.BackoffCap, q.BackoffBase)
	case q.CallDeadline > 0 && q.AttemptTimeout > q.CallDeadline:
		return fmt.Errorf("AttemptTimeout %s is above CallDeadline %s; give less", q.AttemptTimeout, q.CallDeadline)
	}
	return p.validateLayers()
}

func (p Policy) validateLayers() error {
	named := func(layer string, err error) error {
		if err != nil {
			return fmt.Errorf("%s.%w", layer, err)
		}
		return nil
	}
	var errs []error
	if p.Circuit != nil {
		errs = append(errs, named("Circuit", p.Circuit.config.validate()))
	}
	if p.Bulkhead != nil {
		errs = append(errs, named("Bulkhead", p.Bulkhead.validate()))
	}
	if p.Fallback != nil {
		errs = append(errs, named("Fallback", p.Fallback.validate()))
	}
	if p.RepeatGuard != nil {
		errs = append(errs, named("RepeatGuard", p.RepeatGuard.validate()))
	}
	if p.Dedupe != nil {
		errs = append(errs, named("Dedupe", p.Dedupe.validate()))
	}
	return cmp.Or(errs...)
}

// Wrap returns tool with its handler inside all layers that policy asks for. The error is that of [Policy.Validate].
func Wrap(tool mcpserver.ServerTool, policy Policy) (mcpserver.ServerTool, error) {
	if err := policy.Validate(); err != nil {
		return tool, fmt.Errorf("policy of %s: %w", tool.Tool.Name, err)
	}
	tool.Handler = Chain(layers(tool.Tool.Annotations, policy.withDefaults())...)(tool.Handler)
	return tool, nil
}

// layers is the order of the guard, outermost first.
func layers(hints mcp.ToolAnnotation, p Policy) []mcpserver.ToolHandlerMiddleware {
	readOnly := isTrue(hints.ReadOnlyHint)
	repeatable := p.Keyed
	if readOnly || isTrue(hints.IdempotentHint) {
		repeatable = nil
	} else if repeatable == nil {
		p.Attempts = 1
	}
	list := []mcpserver.ToolHandlerMiddleware{
		Explain(ExplainConfig{
			Upstream: p.Upstream, ReadOnly: readOnly, CallDeadline: p.CallDeadline, Logger: p.Logger, NewID: p.NewID, Observe: p.Observe,
			counted: true, echo: p.Replayed,
		}),
	}
	add := func(layer mcpserver.ToolHandlerMiddleware) { list = append(list, layer) }
	if p.RepeatGuard != nil {
		add(RepeatGuard(*p.RepeatGuard))
	}
	if p.Dedupe != nil {
		add(Dedupe(*p.Dedupe))
	}
	if p.Replayed != nil {
		add(echoed(p.Replayed))
	}
	if p.Record != nil {
		add(Record(*p.Record))
	}
	if p.Fallback != nil && readOnly {
		add(Fallback(*p.Fallback))
	}
	if p.Bulkhead != nil {
		add(Bulkhead(*p.Bulkhead))
	}
	if p.Circuit != nil {
		add(p.Circuit.Layer)
	}
	add(Retry(RetryConfig{
		Attempts: p.Attempts, BackoffBase: p.BackoffBase, BackoffCap: p.BackoffCap, Repeatable: repeatable, Budget: p.Budget,
	}))
	add(Timeout(p.AttemptTimeout))
	return list
}

// Chain joins layers to one, the first being the outermost.
func Chain(layers ...mcpserver.ToolHandlerMiddleware) mcpserver.ToolHandlerMiddleware {
	return func(handler mcpserver.ToolHandlerFunc) mcpserver.ToolHandlerFunc {
		for i := len(layers) - 1; i >= 0; i-- {
			handler = layers[i](handler)
		}
		return handler
	}
}

func isTrue(hint *bool) bool { return hint != nil && *hint }
