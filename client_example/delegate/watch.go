package delegate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/kitebase/kitebase-mcp/client_example/agent"
)

// watch runs a sub-loop once, and listens to it.
type watch struct {
	run   SubLoop
	stall time.Duration // 0: never
	grace time.Duration
	// hear is called on the goroutine of the caller, and never after once returned.
	hear func(agent.Event)
}

// result is what a sub-loop returned.
type result struct {
	finding Finding
	err     error
}

// once returns what the sub-loop returned, or an error when it falls silent or ctx ends. By then the sub-loop has ended,
// unless it ignores its context for longer than the grace. What it does after it was cancelled counts for nothing.
func (w watch) once(ctx context.Context, task string) (Finding, error) {
	watched, cancel := context.WithCancel(ctx)
	defer cancel()
	events := make(chan agent.Event)
	done := w.start(watched, Order{Task: task, Patience: w.stall, Tell: func(event agent.Event) {
		select {
		case events <- event:
		case <-watched.Done():
		}
	}})
	limit := w.stall
	if limit == 0 {
		limit = math.MaxInt64
	}
	silence := time.NewTimer(limit)
	defer silence.Stop()
	for {
		select {
		case event := <-events:
			w.hear(event)
			silence.Reset(limit) // after the listener, whose time is not the sub-loop's
		case r := <-done:
			return r.finding, r.err
		case <-silence.C:
			cancel()
			return Finding{}, silent{limit: limit, hung: !w.ends(done)}
		case <-ctx.Done():
			w.ends(done)
			return Finding{}, context.Cause(ctx)
		}
	}
}

// start runs the sub-loop on a goroutine of its own, so that one that ignores its context cannot hold the caller. The
// channel has room for the result of one that nobody waits for any more.
func (w watch) start(ctx context.Context, order Order) <-chan result {
	done := make(chan result, 1)
	go func() {
		r := result{err: errors.New("the sub-loop ended its goroutine")} // runtime.Goexit
		defer func() {
			if p := recover(); p != nil {
				r = result{err: fmt.Errorf("the sub-loop panicked: %v\n%s", p, debug.Stack())}
			}
			done <- r
		}()
		r.finding, r.err = w.run(ctx, order)
	}()
	return done
}

// ends waits until the sub-loop, which was cancelled, has ended, but no longer than the grace, and tells whether it did.
func (w watch) ends(done <-chan result) bool {
	grace := time.NewTimer(w.grace)
	defer grace.Stop()
	select {
	case <-done:
		return true
	case <-grace.C:
		return false
	}
}

// silent is the error of a sub-loop that said nothing for too long.
type silent struct {
	limit time.Duration
	hung  bool // it did not end when it was cancelled
}

func (s silent) Error() string {
	return "silent for " + strconv.FormatFloat(s.limit.Seconds(), 'f', -1, 64) + "s"
}
