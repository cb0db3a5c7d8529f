package resilience

import (
	"context"
	"errors"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/kitebase/kitebase-mcp/idempotency"
)

// Timeout returns the layer that limits the wait of one attempt to limit, or to what is left of the call if that is
// less. A limit of zero or less means what is left of the call. The handler must return when its context ends.
//
// An attempt that runs out of time is a [Failure] of kind [TimedOut]; its outcome is the one that the handler's error
// tells, else unknown. A handler that succeeds too late has succeeded. When nothing is left, the handler is not run.
func Timeout(limit time.Duration) mcpserver.ToolHandlerMiddleware {
	return func(next mcpserver.ToolHandlerFunc) mcpserver.ToolHandlerFunc {
		return func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if err := passFence(ctx); err != nil {
				return nil, err
			}
			c := callFrom(ctx)
			began, end, theirs := time.Now(), c.deadline, c.callersDeadline
			if !end.IsZero() && !began.Before(end) {
				return nil, &Failure{What: TimedOut, Says: "no time was left", Effect: idempotency.NotDone, NotRun: true}
			}
			if own := began.Add(limit); limit > 0 && (end.IsZero() || !own.After(end)) {
				end, theirs = own, false
			}
			if at, ok := ctx.Deadline(); end.IsZero() || ok && !at.After(end) {
				result, err := next(ctx, request) // nothing limits it, or ctx does
				c.tried(ctx, began, err)
				return result, err
			}
			attempt := c.attemptUntil(ctx, end)
			defer attempt.finish()
			result, err := next(attempt, request)
			if err != nil && ranOut(ctx, attempt, err) {
				result, err = nil, &Failure{
					What: TimedOut, Says: "no response after " + seconds(end.Sub(began)), Effect: outcomeOf(err), Cause: err, theirs: theirs,
				}
			}
			c.tried(ctx, began, err)
			return result, err
		}
	}
}

// ranOut reports whether err came about because the attempt's own clock ended it. The contexts are asked, not the error
// alone: with a cause, an error no longer is context.DeadlineExceeded.
func ranOut(ctx, attempt context.Context, err error) bool {
	if ctx.Err() != nil || !errors.Is(attempt.Err(), context.DeadlineExceeded) {
		return false
	}
	kind := kindOf(err)
	return kind == TimedOut || kind == Canceled
}
