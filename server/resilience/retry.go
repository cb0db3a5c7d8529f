package resilience

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/kitebase/kitebase-mcp/idempotency"
)

// RetryConfig says how often and after which waits a call is repeated. The zero value works.
type RetryConfig struct {
	// Attempts is how often the handler runs at the most. Default 2; -1 means once. A repeat because the first request
	// with the same key is still running ([InProgress]) does not count.
	Attempts int
	// BackoffBase and BackoffCap bound the random waits, see [Policy]. Defaults 100ms and 2s.
	BackoffBase, BackoffCap time.Duration
	// Budget limits the retries over all tools of an upstream. Default nil: no limit.
	Budget *RetryBudget
	// Repeatable reports whether the call may be repeated at all, asked before each attempt. Default nil: yes.
	Repeatable func() bool
}

// Retry returns the layer that repeats transient failures. It does not ask whether the tool is safe to repeat; [Wrap]
// does, and gives it one attempt if not.
//
// The waits have full jitter: before attempt i+2 a random time in
//
//	i                0       1       2       3       4      5 …
//	[0, …)       100ms   200ms   400ms   800ms    1.6s     2s
//
// A wait that the upstream asked for replaces it and is never shortened. There is no wait after the last attempt, and none
// that the deadline of the call cannot hold: then the failure is told at once.
//
// A call whose caller has left before the first attempt is not begun.
//
// If any attempt ended with an unknown outcome, so does the call, whatever later attempts say, unless one succeeds.
func Retry(config RetryConfig) mcpserver.ToolHandlerMiddleware {
	defaults := Policy{Attempts: config.Attempts, BackoffBase: config.BackoffBase, BackoffCap: config.BackoffCap}.withDefaults()
	return func(next mcpserver.ToolHandlerFunc) mcpserver.ToolHandlerFunc {
		return func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			c := callFrom(ctx)
			if c.abandoned() { // while the ledger was asked, or at any other wait before
				return nil, left(c)
			}
			limit := defaults.Attempts
			if config.Repeatable != nil && !config.Repeatable() {
				limit = 1
			}
			run := retrying{
				call: c, limit: limit, repeatable: config.Repeatable, budget: config.Budget,
				base: defaults.BackoffBase, cap: defaults.BackoffCap,
			}
			result := run.attempt(ctx, request, next)
			if run.again() {
				more := run // only what is repeated needs the heap
				result = more.repeat(ctx, request, next)
				run = more
			}
			return result, run.failure()
		}
	}
}

// retrying is one call being retried. It is the [backoff.BackOff] of its own run, since the next wait depends on the last
// error, which backoff does not pass on.
type retrying struct {
	call       *call
	limit      int
	repeatable func() bool // nil: always
	base, cap  time.Duration
	budget     *RetryBudget

	counted int   // attempts that count against the limit
	err     error // of the last attempt
	unknown bool  // some attempt may have had its effect
	spent   bool  // the budget refused a retry
}

// failure returns the error of the call, with what the earlier attempts add to that of the last one.
func (r *retrying) failure() error {
	err := r.err
	if r.spent {
		err = unretried{err}
	}
	if err != nil && r.unknown && outcomeOf(err) != idempotency.Unknown {
		err = settled{err, idempotency.Unknown}
	}
	return err
}

// attempt runs the handler once.
func (r *retrying) attempt(ctx context.Context, request mcp.CallToolRequest, next mcpserver.ToolHandlerFunc) (result *mcp.CallToolResult) {
	r.call.attempts++ // before it runs, so that a panic is counted
	result, r.err = next(ctx, request)
	r.count(ctx)
	return result
}

// again reports whether the last attempt failed in a way that a repeat may mend.
func (r *retrying) again() bool { return r.err != nil && retryable(r.err) && !refused(r.err) }

// repeat has backoff drive the attempts after the first one, which most calls never see.
func (r *retrying) repeat(ctx context.Context, request mcp.CallToolRequest, next mcpserver.ToolHandlerFunc) (result *mcp.CallToolResult) {
	waited := false
	attempt := func() error {
		switch {
		case !waited: // the first attempt was made
			waited = true
			return r.err
		case r.call.abandoned() && !r.unknown:
			return backoff.Permanent(r.err) // the caller left during the wait and nothing is under way: begin nothing new
		case r.repeatable != nil && !r.repeatable():
			return backoff.Permanent(r.err) // another call found out meanwhile that keys are ignored
		}
		result = r.attempt(ctx, request, next)
		if r.err == nil || r.again() {
			return r.err
		}
		return backoff.Permanent(r.err)
	}
	// What backoff returns is not asked: when the context ends in a wait, it has forgotten the last error.
	_ = backoff.RetryNotify(attempt, backoff.WithContext(r, ctx), r.told(ctx))
	return result
}

// count books how the attempt ended. A refusal of the handler is no attempt: nothing was asked of the upstream.
func (r *retrying) count(ctx context.Context) {
	if r.err == nil {
		r.budget.succeeded()
		return
	}
	if refused(r.err) {
		r.call.attempts--
		return
	}
	if kindOf(r.err) != InProgress { // that one waits out the first request
		r.counted++
	}
	r.book(ctx)
	r.unknown = r.unknown || outcomeOf(r.err) == idempotency.Unknown
}

// book tells the budget how a failed attempt ended, unless the caller is to blame.
func (r *retrying) book(ctx context.Context) {
	if ctx.Err() != nil {
		return
	}
	switch counts := countsAs(r.err); {
	case counts == answer:
		r.budget.succeeded()
	case counts == failure && retryable(r.err), kindOf(r.err) == RateLimited:
		r.budget.failed()
	}
}

// NextBackOff returns the wait before the next attempt, or [backoff.Stop].
func (r *retrying) NextBackOff() time.Duration {
	if r.counted >= r.limit {
		return backoff.Stop
	}
	wait := retryAfter(r.err)
	if wait == 0 {
		wait = jitter(r.base, r.cap, r.call.attempts-1)
	} else {
		wait = max(wait, r.base) // what is in progress is asked for without a limit, and must not be asked without a pause
	}
	if !r.call.holds(wait) {
		return backoff.Stop
	}
	if kindOf(r.err) != InProgress && r.budget.Exhausted() {
		r.spent = true
		return backoff.Stop
	}
	return wait
}

// Reset does nothing: a run is used once.
func (r *retrying) Reset() {}

// told logs each wait and tells it to a caller who asked for progress.
func (r *retrying) told(ctx context.Context) backoff.Notify {
	return func(err error, wait time.Duration) {
		what := r.call.words.reason(err)
		r.call.log.LogAttrs(ctx, slog.LevelInfo, r.call.words.waiting(r.call.attempts, err, wait),
			slog.String("call", r.call.id), slog.String("kind", string(kindOf(err))), ms("wait_ms", wait))
		r.call.progress.tell(ctx, attemptAfter(r.call.attempts+1, max(r.limit, r.call.attempts+1), what))
	}
}

// jitter returns a random time in [0, min(cap, base·2^i)). The doubling stops before it can overflow.
func jitter(base, cap time.Duration, i int) time.Duration {
	bound := base
	for ; i > 0 && bound < cap; i-- {
		bound *= 2
	}
	return rand.N(max(1, min(bound, cap)))
}
