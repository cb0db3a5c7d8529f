package resilience_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/server/resilience"
)

func TestTimeout(t *testing.T) {
	policy := resilience.Policy{AttemptTimeout: 200 * time.Millisecond}

	t.Run("each attempt has a clock of its own", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			h := does(hangs)
			result := guard(t, reads(h.handle), policy)(t.Context())
			require.Equal(t, 2, h.runs)
			require.Equal(t, "Error: get_ticket failed after 2 tries: no response after 0.2s (TimeoutError). "+
				"Kitebase may be slow or down.", text(result))
			require.Equal(t, resilience.ErrorInfo{Kind: "timeout", Attempts: 2, Next: "other_tool", Outcome: "not_done"}, info(t, result))
		})
	})
	t.Run("a write that ran out of time may have been done", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			h := does(hangs)
			result := guard(t, sends(h.handle), policy)(t.Context())
			require.Equal(t, "Error: reply_to_customer failed after 1 try: no response after 0.2s (TimeoutError). "+
				"Kitebase may be slow or down. The change may have gone through anyway, so check before you repeat it.", text(result))
			require.Equal(t, resilience.ErrorInfo{Kind: "timeout", Attempts: 1, Next: "check", Outcome: "unknown"}, info(t, result))
		})
	})
	t.Run("unless the handler knows that nothing went out", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			h := does(func(ctx context.Context) (*mcp.CallToolResult, error) {
				<-ctx.Done()
				return nil, &resilience.Failure{What: resilience.TimedOut, Effect: idempotency.NotDone, Cause: ctx.Err()}
			})
			require.Equal(t, "not_done", info(t, guard(t, sends(h.handle), policy)(t.Context())).Outcome)
		})
	})
	t.Run("a handler's own error at the same instant stands", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			h := does(func(ctx context.Context) (*mcp.CallToolResult, error) {
				<-ctx.Done()
				return nil, reset
			})
			require.Equal(t, resilience.Unavailable, info(t, guard(t, reads(h.handle), policy)(t.Context())).Kind)
		})
	})
	t.Run("a success that comes too late is a success", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			h := does(func(ctx context.Context) (*mcp.CallToolResult, error) {
				<-ctx.Done()
				return succeeds(ctx)
			})
			require.False(t, guard(t, sends(h.handle), policy)(t.Context()).IsError)
		})
	})
	t.Run("the cause of the caller's cancellation does not make it a timeout", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, leave := context.WithCancelCause(t.Context())
			time.AfterFunc(50*time.Millisecond, func() { leave(context.DeadlineExceeded) })
			h := does(func(ctx context.Context) (*mcp.CallToolResult, error) {
				<-ctx.Done()
				return nil, &resilience.Failure{What: resilience.Canceled, Cause: context.Cause(ctx)}
			})
			require.Equal(t, resilience.Canceled, info(t, guard(t, reads(h.handle), policy)(ctx)).Kind)
		})
	})
	t.Run("alone it takes the deadline of the context", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, err := resilience.Timeout(-1)(does(hangs).handle)(ctx, mcp.CallToolRequest{})
			require.Error(t, err)
			require.Equal(t, time.Second, time.Since(began))
		})
	})
}

func TestCallDeadline(t *testing.T) {
	t.Run("is shared by all attempts and waits", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			h := does(hangs)
			result := guard(t, reads(h.handle), resilience.Policy{Attempts: 10, CallDeadline: 12 * time.Second})(t.Context())
			require.LessOrEqual(t, time.Since(began), 12*time.Second)
			require.Equal(t, h.runs, info(t, result).Attempts)
			require.Equal(t, 3, h.runs, "5s, 5s and what was left")
		})
	})
	t.Run("runs from the arrival of the message", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			ctx := resilience.WithArrival(t.Context(), began.Add(-24*time.Second))
			guard(t, reads(does(hangs).handle), resilience.Policy{})(ctx)
			require.Equal(t, time.Second, time.Since(began))
		})
	})
	t.Run("the caller may ask for less", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			result := guard(t, reads(does(hangs).handle), resilience.Policy{})(t.Context(), withDeadline(800))
			require.Equal(t, 800*time.Millisecond, time.Since(began))
			require.Contains(t, text(result), "no response after 0.8s")
		})
	})
	t.Run("but not for more", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			guard(t, reads(does(hangs).handle), resilience.Policy{Attempts: -1})(t.Context(), withDeadline(1e300))
			require.Equal(t, 5*time.Second, time.Since(began))
		})
	})
	t.Run("with nothing left nothing is run", func(t *testing.T) {
		for _, ms := range []float64{0, -5} {
			h := does(succeeds)
			result := guard(t, sends(h.handle), resilience.Policy{})(t.Context(), withDeadline(ms))
			require.Zero(t, h.runs)
			require.Equal(t, "Error: reply_to_customer was not run: no time was left.", text(result))
			require.Equal(t, "not_done", info(t, result).Outcome)
		}
	})
	t.Run("switched off", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			h := does(takes(time.Hour, succeeds))
			policy := resilience.Policy{AttemptTimeout: -1, CallDeadline: -1}
			require.False(t, guard(t, reads(h.handle), policy)(t.Context()).IsError)
		})
	})
}
