package resilience_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/server/resilience"
)

// In the field circuits stayed half-open for days, because a probe ended by panic, cancel or hang and kept its place.
func TestAProbeThatEndsInAnyWayFreesItsPlace(t *testing.T) {
	leave := func(ctx context.Context) (*mcp.CallToolResult, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	status := func(kind resilience.Kind) func(context.Context) (*mcp.CallToolResult, error) {
		return fails(&resilience.Failure{What: kind, Effect: idempotency.NotDone})
	}
	cases := []struct {
		name  string
		probe func(context.Context) (*mcp.CallToolResult, error)
		after resilience.CircuitState
	}{
		{"a cancel", leave, resilience.HalfOpen},
		{"a panic", panics, resilience.HalfOpen},
		{"the end of its goroutine", func(context.Context) (*mcp.CallToolResult, error) { runtime.Goexit(); return nil, nil }, resilience.HalfOpen},
		{"a 429", status(resilience.RateLimited), resilience.HalfOpen},
		{"a 401", status(resilience.Denied), resilience.Closed},
		{"a 404", status(resilience.NotFound), resilience.Closed},
		{"a hang", hangs, resilience.Open},
	}
	for _, c := range cases {
		bubble(t, c.name, func(t *testing.T) {
			call, circuit, h := opened(t, resilience.BreakerConfig{}, c.probe, succeeds)
			time.Sleep(cooldown)
			ctx, cancel := context.WithCancel(t.Context())
			if c.name == "a cancel" {
				time.AfterFunc(time.Second, cancel)
			}
			ended := make(chan struct{})
			go func() { defer close(ended); call(ctx) }()
			<-ended
			cancel()
			require.Equal(t, c.after, circuit.Status().State)
			if c.after == resilience.Open {
				time.Sleep(cooldown)
			}
			require.False(t, call(t.Context()).IsError, "the next call is let through")
			require.Equal(t, 7, h.runs)
			require.Equal(t, resilience.Closed, circuit.Status().State)
		})
	}
}

// A probe in place of a write: the first reply after an outage must not be the test whether it is over.
func TestAWriteIsProbedByAsking(t *testing.T) {
	var look func(context.Context) error
	looks := 0
	circuit := func() *resilience.Circuit {
		looks = 0
		return resilience.NewCircuit(resilience.BreakerConfig{Threshold: 1, Probe: func(ctx context.Context, _ mcp.CallToolRequest) error {
			looks++
			return look(ctx)
		}})
	}
	// down is a reply tool whose circuit is due for a probe.
	down := func(t *testing.T) (caller, *resilience.Circuit, *handler) {
		h, c := does(fails(reset), succeeds), circuit()
		call := guard(t, sends(h.handle), resilience.Policy{Circuit: c})
		call(t.Context())
		require.Zero(t, looks, "a closed circuit is not probed")
		require.Equal(t, resilience.CircuitOpen, info(t, call(t.Context())).Kind)
		require.Zero(t, looks, "nor an open one")
		time.Sleep(cooldown)
		return call, c, h
	}
	answers := func(err error) func(context.Context) error { return func(context.Context) error { return err } }

	bubble(t, "when it answers, the write is made", func(t *testing.T) {
		look = answers(nil)
		call, c, h := down(t)
		require.False(t, call(t.Context()).IsError)
		require.Equal(t, []int{1, 2}, []int{looks, h.runs})
		require.Equal(t, resilience.Closed, c.Status().State)
		call(t.Context())
		require.Equal(t, 1, looks)
	})
	bubble(t, "not found is an answer too", func(t *testing.T) {
		look = answers(&resilience.Failure{What: resilience.NotFound})
		call, _, _ := down(t)
		require.False(t, call(t.Context()).IsError)
	})
	bubble(t, "when it fails, nothing is sent and the circuit opens again", func(t *testing.T) {
		look = answers(reset)
		call, c, h := down(t)
		refused := info(t, call(t.Context()))
		require.Equal(t, resilience.CircuitOpen, refused.Kind)
		require.Equal(t, "not_done", refused.Outcome)
		require.Equal(t, cooldown.Milliseconds(), refused.RetryAfterMS)
		require.Equal(t, []int{1, 1}, []int{looks, h.runs})
		require.Equal(t, resilience.Open, c.Status().State)
	})
	bubble(t, "when it is limited, nothing is sent and the place is free", func(t *testing.T) {
		look = answers(&resilience.Failure{What: resilience.RateLimited, Wait: 20 * time.Second})
		call, c, h := down(t)
		result := call(t.Context())
		require.Equal(t, "Error: reply_to_customer was not run: Kitebase is limiting requests. Wait 20s before you try again.", text(result))
		require.Equal(t, resilience.ErrorInfo{Kind: resilience.RateLimited, Next: "wait", RetryAfterMS: 20_000, Outcome: "not_done"}, info(t, result))
		require.Equal(t, 1, h.runs)
		require.Equal(t, resilience.HalfOpen, c.Status().State)
		look = answers(nil)
		require.False(t, call(t.Context()).IsError)
	})
	bubble(t, "a caller who gives it no time does not open the circuit again", func(t *testing.T) {
		look = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
		call, c, h := down(t)
		require.Equal(t, resilience.TimedOut, info(t, call(t.Context(), withDeadline(10))).Kind)
		require.Equal(t, 1, h.runs)
		require.Equal(t, resilience.HalfOpen, c.Status().State)
	})
	bubble(t, "a caller who leaves meanwhile has nothing sent", func(t *testing.T) {
		look = func(context.Context) error { time.Sleep(time.Second); return nil }
		call, c, h := down(t)
		ctx, leave := context.WithCancel(t.Context())
		time.AfterFunc(time.Millisecond, leave)
		result := info(t, call(ctx))
		require.Equal(t, resilience.Canceled, result.Kind)
		require.Equal(t, "not_done", result.Outcome)
		require.Equal(t, 1, h.runs)
		require.Equal(t, resilience.HalfOpen, c.Status().State)
	})
	bubble(t, "a panic of it frees the place", func(t *testing.T) {
		look = func(context.Context) error { panic("secret detail") }
		call, c, h := down(t)
		require.Equal(t, resilience.Internal, info(t, call(t.Context())).Kind)
		require.Equal(t, 1, h.runs)
		require.Equal(t, resilience.HalfOpen, c.Status().State)
	})
	bubble(t, "a refusal leaves no trace of the reply", func(t *testing.T) {
		look = answers(reset)
		d := deskThat(fails(&resilience.Failure{What: resilience.Unavailable, Effect: idempotency.NotDone}), succeeds)
		policy := d.policy()
		policy.Circuit, policy.Attempts = circuit(), -1
		call := guard(t, sends(d.handle), policy)
		call(t.Context(), withMessage("x"))
		require.Equal(t, resilience.CircuitOpen, info(t, call(t.Context(), withMessage("x"))).Kind)
		time.Sleep(cooldown)
		look = answers(nil)
		sent := call(t.Context(), withMessage("x"))
		require.False(t, sent.IsError)
		require.NotContains(t, text(sent), "Already done")
		require.Equal(t, 2, d.runs)
	})
}
