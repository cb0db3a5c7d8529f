package resilience_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/server/resilience"
)

// TestWhatACircuitCounts is the table at [resilience.Circuit]. Four failures are on the books; one more call ends as the case
// says, and one failure follows: the circuit is open at once after a failure, open after the second if the call counted as
// nothing, and closed if it was an answer.
func TestWhatACircuitCounts(t *testing.T) {
	const failure, answer, nothing = "failure", "answer", "nothing"
	kind := func(kind resilience.Kind) func(context.Context) (*mcp.CallToolResult, error) {
		return fails(&resilience.Failure{What: kind, Effect: idempotency.NotDone})
	}
	leaving := func(t *testing.T) context.Context {
		ctx, leave := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, leave)
		return ctx
	}
	cases := []struct {
		name   string
		step   func(context.Context) (*mcp.CallToolResult, error)
		ctx    func(*testing.T) context.Context // nil: the test's own
		option option
		counts string
	}{
		{name: "no connection, a cut one, a 5xx", step: kind(resilience.Unavailable), counts: failure},
		{name: "no answer within our time", step: hangs, counts: failure},
		{name: "an answer that cannot be used", step: kind(resilience.BadAnswer), counts: failure},
		{name: "a redirect", step: kind(resilience.Misconfigured), counts: failure},
		{name: "503 with Retry-After", counts: failure,
			step: fails(&resilience.Failure{What: resilience.Unavailable, Wait: time.Hour, Says: "Kitebase answered 503"})},

		{name: "success", step: succeeds, counts: answer},
		{name: "404", step: kind(resilience.NotFound), counts: answer},
		{name: "422", step: kind(resilience.Invalid), counts: answer},
		{name: "409", step: kind(resilience.Conflict), counts: answer},
		{name: "422 for a key that was used", step: kind(resilience.KeyReused), counts: answer},
		{name: "401", step: kind(resilience.Denied), counts: answer},

		{name: "429", step: kind(resilience.RateLimited), counts: nothing},
		{name: "409 in flight, when the time is up", counts: nothing,
			step: fails(&resilience.Failure{What: resilience.InProgress, Wait: time.Hour})},
		{name: "held", step: kind(resilience.Held), counts: nothing},
		{name: "a plain error, which is a bug", step: fails(errors.New("index out of range")), counts: nothing},
		{name: "a panic", step: panics, counts: nothing},
		{name: "bad arguments", counts: nothing,
			step: fails(&resilience.Failure{What: resilience.Invalid, NotRun: true, Effect: idempotency.NotDone})},
		{name: "the caller's cancel", step: hangs, ctx: leaving, counts: nothing},
		{name: "the caller's cancel, told as a cut connection", step: cut, ctx: leaving, counts: nothing},
		{name: "the caller's cancel with a cause", counts: nothing, step: func(ctx context.Context) (*mcp.CallToolResult, error) {
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}, ctx: func(t *testing.T) context.Context {
			ctx, leave := context.WithCancelCause(t.Context())
			time.AfterFunc(time.Second, func() { leave(reset) })
			return ctx
		}},
		{name: "the caller's own deadline, by its context", step: hangs, counts: nothing, ctx: func(t *testing.T) context.Context {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			t.Cleanup(cancel)
			return ctx
		}},
		{name: "the caller's own deadline, by the message", step: hangs, option: withDeadline(1000), counts: nothing},
		{name: "a caller who gives no time", step: fails(reset), option: withDeadline(0), counts: nothing},
	}
	for _, c := range cases {
		bubble(t, c.name, func(t *testing.T) {
			down := fails(reset)
			call, circuit := circuited(t, does(down, down, down, down, c.step, down), resilience.BreakerConfig{})
			for range 4 {
				call(t.Context())
			}
			ctx := t.Context()
			if c.ctx != nil {
				ctx = c.ctx(t)
			}
			options := []option{}
			if c.option != nil {
				options = append(options, c.option)
			}
			call(ctx, options...)
			require.Equal(t, c.counts == failure, circuit.Status().State == resilience.Open, "after the call")
			if c.counts == failure {
				return
			}
			call(t.Context())
			require.Equal(t, c.counts == nothing, circuit.Status().State == resilience.Open, "after one more failure")
		})
	}
}

// The same of a write, which runs on when its caller leaves: what it ran into then still counts.
func TestAWriteCountsWithoutItsCaller(t *testing.T) {
	bubble(t, "a write", func(t *testing.T) {
		circuit := resilience.NewCircuit(resilience.BreakerConfig{Threshold: 1})
		call := guard(t, sends(does(hangs).handle), resilience.Policy{Circuit: circuit})
		ctx, leave := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, leave)
		require.Equal(t, resilience.TimedOut, info(t, call(ctx)).Kind)
		require.Equal(t, resilience.Open, circuit.Status().State)
	})
}

// In the field breakers opened on client cancellations, on 404s and on 429s.
func TestWhatNeverOpensACircuit(t *testing.T) {
	for _, kind := range []resilience.Kind{resilience.NotFound, resilience.RateLimited, resilience.Canceled} {
		bubble(t, string(kind), func(t *testing.T) {
			h := does(fails(&resilience.Failure{What: kind, Effect: idempotency.NotDone}))
			if kind == resilience.Canceled {
				h = does(hangs)
			}
			call, circuit := circuited(t, h, resilience.BreakerConfig{})
			for range 100 {
				ctx, leave := context.WithCancel(t.Context())
				time.AfterFunc(time.Millisecond, leave)
				require.Equal(t, kind, info(t, call(ctx)).Kind)
			}
			require.Equal(t, 100, h.runs)
			require.Equal(t, resilience.CircuitStatus{State: resilience.Closed}, circuit.Status())
		})
	}
}
