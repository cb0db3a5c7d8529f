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

// enter returns the flight of that name, and whether it is the caller's own, to be ended by leave.
func (f *flights) enter(name string) (under *flight, mine bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if under, ok := f.under[name]; ok {
		return under, false
	}
	under = &flight{done: make(chan struct{})}
	under.landed.err = &Failure{What: Internal} // what those who joined see if the call panics
	if f.under == nil {
		f.under = make(map[string]*flight)
	}
	f.under[name] = under
	return under, true
}

func (f *flights) leave(name string, under *flight) {
	f.mu.Lock()
	delete(f.under, name)
	f.mu.Unlock()
	close(under.done)
}

// join waits for a flight, within the deadline of the one who waits, and returns its ending, a success marked as a repeat.
// Who joins runs nothing itself.
func (d *deduper) join(ctx context.Context, under *flight, id idempotency.Identity) (*mcp.CallToolResult, error) {
	c := callFrom(ctx)
	var late <-chan time.Time
	if left, limited := c.remaining(); limited {
		timer := time.NewTimer(left)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-under.done:
	case <-c.caller.Done():
		return nil, &Failure{What: Canceled, NotRun: true, Cause: context.Cause(c.caller)}
	case <-late:
		return nil, d.unconfirmed(0)
	}
	switch landed := under.landed; {
	case landed.err != nil:
		return nil, shared{landed.err}
	case landed.record.Result == nil:
		return nil, d.unconfirmed(0)
	default:
		again := d.replay(ctx, landed.record, id)
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
