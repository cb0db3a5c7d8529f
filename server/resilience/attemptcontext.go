package resilience

import (
	"context"
	"sync"
	"time"
)

// attemptContext is the context of one attempt. It ends like one of [context.WithDeadline], and becomes one as soon as somebody
// waits for its end; until then it has neither a timer nor a place among the children of the call's context, which together
// are a third of what a guarded call costs.
type attemptContext struct {
	context.Context // of the call; its deadline, if any, is later than end
	end             time.Time

	mu     sync.Mutex
	waited context.Context // nil: nobody has waited yet
	cancel context.CancelFunc
	over   bool
}

// attemptUntil returns the context of an attempt that ends at end.
func (c *call) attemptUntil(ctx context.Context, end time.Time) *attemptContext {
	a := &c.first
	if a.Context != nil { // taken
		a = new(attemptContext)
	}
	a.Context, a.end = ctx, end
	return a
}

// Deadline returns the end of the attempt.
func (a *attemptContext) Deadline() (time.Time, bool) { return a.end, true }

// Done returns what is closed at the end of the attempt.
func (a *attemptContext) Done() <-chan struct{} { return a.standard().Done() }

// Err tells why the attempt ended, nil before.
func (a *attemptContext) Err() error {
	if waited, over := a.state(); waited == nil && !over && time.Now().Before(a.end) {
		return a.Context.Err()
	}
	return a.standard().Err()
}

// Value is that of the call's context. Asked of the standard context, once there is one, package context finds in it where to
// hang contexts derived from this one, without a goroutine for each.
func (a *attemptContext) Value(key any) any {
	if waited, _ := a.state(); waited != nil {
		return waited.Value(key)
	}
	return a.Context.Value(key)
}

// finish ends the attempt, for those who still wait and for those who come later.
func (a *attemptContext) finish() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.over = true
	if a.cancel != nil {
		a.cancel()
	}
}

func (a *attemptContext) state() (waited context.Context, over bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.waited, a.over
}

func (a *attemptContext) standard() context.Context {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.waited == nil {
		a.waited, a.cancel = context.WithDeadline(a.Context, a.end)
		if a.over {
			a.cancel()
		}
	}
	return a.waited
}
