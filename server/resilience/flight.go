package resilience

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/kitebase/kitebase-mcp/idempotency"
)

// landing is how a call ended, for the one who ran it and for those who joined.
type landing struct {
	record idempotency.Record
	result *mcp.CallToolResult // for the one who ran it; those who joined read record, which nobody changes
	err    error
}

// flights holds the calls under way in this process, so that the same call made meanwhile shares the first one's ending.
// The zero value is ready; it is safe for concurrent use.
type flights struct {
	mu    sync.Mutex
	under map[string]*flight
}

type flight struct {
	done   chan struct{} // closed when landed holds
	landed landing
}

// share runs the call, or waits for the same call that runs already, within the deadline of the one who waits.
func (f *flights) share(ctx context.Context, name string, run func() landing) (*mcp.CallToolResult, error) {
	f.mu.Lock()
	if under, ok := f.under[name]; ok {
		f.mu.Unlock()
		return under.join(ctx)
	}
	mine := &flight{done: make(chan struct{})}
	mine.landed.err = &Failure{What: Internal} // what those who joined see if run panics
	if f.under == nil {
		f.under = make(map[string]*flight)
	}
	f.under[name] = mine
	f.mu.Unlock()

	defer func() {
		f.mu.Lock()
		delete(f.under, name)
		f.mu.Unlock()
		close(mine.done)
	}()
	mine.landed = run()
	return mine.landed.result, mine.landed.err
}

// join waits for the flight and returns its ending, a success marked as a repeat. Who joins runs nothing itself.
func (f *flight) join(ctx context.Context) (*mcp.CallToolResult, error) {
	c := callFrom(ctx)
	var late <-chan time.Time
	if left, limited := c.remaining(); limited {
		timer := time.NewTimer(left)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-f.done:
	case <-c.caller.Done():
		return nil, &Failure{What: Canceled, NotRun: true, Cause: context.Cause(c.caller)}
	case <-late:
		return nil, &Failure{What: Held, Says: unconfirmed(0), NotRun: true}
	}
	switch {
	case f.landed.err != nil:
		return nil, shared{f.landed.err}
	case f.landed.record.State != idempotency.Finished:
		return nil, &Failure{What: Held, Says: unconfirmed(0), NotRun: true}
	default:
		again := replayed(f.landed.record)
		return again.result, again.err
	}
}

// shared is the failure of the same call made by someone else at the same time: no attempt of this one.
type shared struct{ error }

// Refused reports that this call ran nothing.
func (s shared) Refused() bool { return true }

// Reason says whose failure it is.
func (s shared) Reason() string {
	return "the same call was under way and failed: " + cmp.Or(reasonOf(s.error), string(kindOf(s.error)))
}

func (s shared) Unwrap() error { return s.error }
