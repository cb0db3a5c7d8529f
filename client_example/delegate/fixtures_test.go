package delegate_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/client_example/agent"
	"github.com/kitebase/kitebase-mcp/client_example/delegate"
)

// good is what a sub-loop returns that did its work.
var good = delegate.Finding{Summary: "Reset it under Settings > SSO.", Sources: []string{"account-recovery#2"}}

// bubble runs a named subtest in a bubble of its own, where time is fake.
func bubble(t *testing.T, name string, test func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
}

// plays is a sub-loop that behaves in one way after the other at each run, and in the last one from then on.
type plays struct {
	ways []delegate.SubLoop
	runs atomic.Int32
}

func play(ways ...delegate.SubLoop) *plays { return &plays{ways: ways} }

func (p *plays) run(ctx context.Context, order delegate.Order) (delegate.Finding, error) {
	n := int(p.runs.Add(1))
	return p.ways[min(n, len(p.ways))-1](ctx, order)
}

func works(context.Context, delegate.Order) (delegate.Finding, error) { return good, nil }

// silent says nothing, and ends when it is cancelled with a result that comes too late.
func silent(ctx context.Context, _ delegate.Order) (delegate.Finding, error) {
	<-ctx.Done()
	return good, nil
}

// deaf says nothing and ignores its context for a minute.
func deaf(context.Context, delegate.Order) (delegate.Finding, error) {
	time.Sleep(time.Minute)
	return good, nil
}

func empty(context.Context, delegate.Order) (delegate.Finding, error) {
	return delegate.Finding{Summary: " ", Sources: []string{"a"}}, nil
}

func uncited(context.Context, delegate.Order) (delegate.Finding, error) {
	return delegate.Finding{Summary: "Turn it off and on."}, nil
}

func breaks(context.Context, delegate.Order) (delegate.Finding, error) {
	return delegate.Finding{}, errors.New("dial tcp 10.0.0.1: secret")
}

func panics(context.Context, delegate.Order) (delegate.Finding, error) { panic("a bug") }

// quits ends its goroutine, as a failing test would.
func quits(context.Context, delegate.Order) (delegate.Finding, error) {
	runtime.Goexit()
	return good, nil
}

// toolFails hears of a failed tool and then ends as next does.
func toolFails(next delegate.SubLoop) delegate.SubLoop {
	return func(ctx context.Context, order delegate.Order) (delegate.Finding, error) {
		order.Tell(agent.Called{Use: agent.ToolUse{Name: "search_help"}, Result: agent.Result{IsError: true}})
		return next(ctx, order)
	}
}

// talks says something after each gap and then ends as next does.
func talks(next delegate.SubLoop, gaps ...time.Duration) delegate.SubLoop {
	return func(ctx context.Context, order delegate.Order) (delegate.Finding, error) {
		for i, gap := range gaps {
			time.Sleep(gap)
			order.Tell(agent.Said{Step: i + 1})
		}
		return next(ctx, order)
	}
}

// newDelegate has the paths "deep" and "quick".
func newDelegate(t testing.TB, cfg delegate.Config, deep, quick *plays) *delegate.Delegate {
	t.Helper()
	d, err := delegate.New(cfg, delegate.Path{Name: "deep", Run: deep.run}, delegate.Path{Name: "quick", Run: quick.run})
	require.NoError(t, err)
	return d
}

// recorder keeps what it hears as lines.
type recorder struct{ lines []string }

func (r *recorder) hear(event delegate.Event) {
	switch e := event.(type) {
	case delegate.Attempting:
		r.lines = append(r.lines, fmt.Sprintf("%s: attempt %d", e.Path, e.Attempt))
	case delegate.Heard:
		r.lines = append(r.lines, fmt.Sprintf("%s: heard %T", e.Path, e.Event))
	case delegate.Retrying:
		r.lines = append(r.lines, fmt.Sprintf("retrying: %v", e.Failure))
	case delegate.GaveUp:
		r.lines = append(r.lines, fmt.Sprintf("gave up: %v", e.Failure))
	}
}

// servedBy does a task and returns who answered, or "nobody".
func servedBy(d *delegate.Delegate) string {
	answer, err := d.Do(context.Background(), "task", nil)
	if err != nil {
		return "nobody"
	}
	return answer.ServedBy
}
