package resilience

import (
	"context"
	"errors"

	"github.com/kitebase/kitebase-mcp/idempotency"
)

// A fence keeps a process that was stopped for a while (a laptop that slept, a machine that was moved) from sending what
// another one has dealt with meanwhile. Dedupe builds it, and Timeout, the last layer before the handler, asks it at each attempt.
type fenceKey struct{}

// errOvertaken means that the claim has passed to another process, so that the call is to be looked at anew.
var errOvertaken = errors.New("another process has taken the call over")

// withFence returns a context whose attempts ask first whether the claim still stands.
func withFence(ctx context.Context, stands func(context.Context) error) context.Context {
	return context.WithValue(ctx, fenceKey{}, stands)
}

// passFence returns nil if the handler may run.
func passFence(ctx context.Context) error {
	stands, ok := ctx.Value(fenceKey{}).(func(context.Context) error)
	if !ok {
		return nil
	}
	err := stands(ctx)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, idempotency.ErrMoved):
		return &Failure{What: Held, Effect: idempotency.NotDone, NotRun: true, Cause: errOvertaken}
	default:
		return unusable(err)
	}
}
