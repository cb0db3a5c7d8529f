package resilience_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/server/resilience"
)

func TestRetryRepeatsWhatIsSafeToRepeat(t *testing.T) {
	cases := []struct {
		name   string
		tool   func(h *handler) caller
		runs   int
		failed bool
	}{
		{"a read", func(h *handler) caller {
			return guard(t, reads(h.handle), resilience.Policy{})
		}, 2, false},
		{"an idempotent write", func(h *handler) caller {
			return guard(t, sets(h.handle), resilience.Policy{})
		}, 2, false},
		{"a keyed write", func(h *handler) caller {
			return guard(t, sends(h.handle), resilience.Policy{Keyed: yes})
		}, 2, false},
		{"no other write", func(h *handler) caller {
			return guard(t, sends(h.handle), resilience.Policy{})
		}, 1, true},
		{"nothing when switched off", func(h *handler) caller {
			return guard(t, reads(h.handle), resilience.Policy{Attempts: -1})
		}, 1, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := does(fails(reset), succeeds)
				result := c.tool(h)(t.Context())
				require.Equal(t, c.runs, h.runs)
				require.Equal(t, c.failed, result.IsError)
				if !c.failed {
					require.Equal(t, c.runs, attempts(result))
				}
			})
		})
	}
}

func TestRetryRepeatsOnlyTransientKinds(t *testing.T) {
	transient := map[resilience.Kind]bool{
		resilience.RateLimited: true, resilience.Unavailable: true, resilience.TimedOut: true, resilience.BadAnswer: true,
		resilience.InProgress: true,
		resilience.Invalid:    false, resilience.NotFound: false, resilience.Conflict: false, resilience.KeyReused: false,
		resilience.Held: false, resilience.Denied: false, resilience.Misconfigured: false, resilience.Canceled: false,
		resilience.Internal: false,
	}
	for kind, again := range transient {
		t.Run(string(kind), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := does(fails(&resilience.Failure{What: kind}), succeeds)
				guard(t, reads(h.handle), resilience.Policy{})(t.Context())
				require.Equal(t, again, h.runs == 2)
			})
		})
	}
	t.Run("an error that says nothing", func(t *testing.T) {
		h := does(fails(errors.New("boom")), succeeds)
		require.Equal(t, resilience.Internal, info(t, guard(t, reads(h.handle), resilience.Policy{})(t.Context())).Kind)
		require.Equal(t, 1, h.runs)
	})
}

func TestRetryWaitsWithinItsBounds(t *testing.T) {
	bounds := []time.Duration{100 * time.Millisecond, 200 * time.Millisecond, 400 * time.Millisecond, 800 * time.Millisecond,
		1600 * time.Millisecond, 2 * time.Second, 2 * time.Second}
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			var starts []time.Time
			h := does(func(context.Context) (*mcp.CallToolResult, error) {
				starts = append(starts, time.Now())
				return nil, reset
			})
			guard(t, reads(h.handle), resilience.Policy{Attempts: len(bounds) + 1})(t.Context())
			require.Len(t, starts, len(bounds)+1)
			for i, bound := range bounds {
				wait := starts[i+1].Sub(starts[i])
				require.GreaterOrEqual(t, wait, time.Duration(0))
				require.Less(t, wait, bound, "wait %d", i)
			}
			require.Equal(t, starts[len(bounds)], time.Now(), "no wait after the last attempt")
		})
	}
}

func TestRetryBackoffNeverOverflows(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		base := time.Duration(rapid.Int64Range(1, int64(time.Hour)).Draw(rt, "base"))
		limit := time.Duration(rapid.Int64Range(int64(base), 1<<62).Draw(rt, "cap"))
		synctest.Test(t, func(t *testing.T) {
			last := time.Now()
			h := does(func(context.Context) (*mcp.CallToolResult, error) {
				wait := time.Since(last)
				last = time.Now()
				require.True(t, 0 <= wait && wait < max(limit, 1), "waited %s", wait)
				return nil, reset
			})
			retry := resilience.Retry(resilience.RetryConfig{Attempts: 3, BackoffBase: base, BackoffCap: limit})
			_, err := retry(h.handle)(t.Context(), mcp.CallToolRequest{})
			require.ErrorIs(t, err, reset)
			require.Equal(t, 3, h.runs)
		})
	})
}

func TestRetryAfterIsHonoured(t *testing.T) {
	limited := func(wait time.Duration) error {
		return &resilience.Failure{What: resilience.RateLimited, Effect: idempotency.NotDone, Wait: wait}
	}
	t.Run("waits at least as long as asked", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			h := does(fails(limited(3*time.Second)), succeeds)
			require.False(t, guard(t, reads(h.handle), resilience.Policy{})(t.Context()).IsError)
			require.Equal(t, 3*time.Second, time.Since(began))
		})
	})
	t.Run("a wait that the deadline cannot hold is not begun", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			h := does(fails(limited(30*time.Second)), succeeds)
			result := guard(t, reads(h.handle), resilience.Policy{})(t.Context())
			require.Zero(t, time.Since(began))
			require.Equal(t, 1, h.runs)
			require.Equal(t, "Error: get_ticket failed after 1 try: Kitebase is limiting requests (KitebaseRateLimited). "+
				"Wait 30s before you try again.", text(result))
			require.EqualValues(t, 30_000, info(t, result).RetryAfterMS)
		})
	})
}

func TestRetryWaitsOutARequestInProgress(t *testing.T) {
	bubble(t, "never without a pause, however soon it may be asked again", func(t *testing.T) {
		h := does(fails(&resilience.Failure{What: resilience.InProgress, Wait: 1}))
		guard(t, reads(h.handle), resilience.Policy{})(t.Context())
		require.LessOrEqual(t, h.runs, 250, "25 seconds in waits of at least 100 ms")
	})
	synctest.Test(t, func(t *testing.T) {
		busy := &resilience.Failure{What: resilience.InProgress, Wait: time.Second}
		h := does(fails(busy), fails(busy), fails(busy), succeeds)
		result := guard(t, sends(h.handle), resilience.Policy{Keyed: yes, Attempts: -1})(t.Context())
		require.False(t, result.IsError, "a request in progress does not use up the attempts")
		require.Equal(t, 4, attempts(result))
	})
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		h := does(fails(&resilience.Failure{What: resilience.InProgress, Wait: time.Second}))
		result := guard(t, sends(h.handle), resilience.Policy{Keyed: yes})(t.Context())
		require.Equal(t, "unknown", info(t, result).Outcome)
		require.Less(t, time.Since(began), 25*time.Second, "but the deadline holds")
	})
}

func TestRetryKeepsAnUnknownOutcome(t *testing.T) {
	for _, later := range []resilience.Kind{resilience.NotFound, resilience.RateLimited, resilience.Denied, resilience.Unavailable} {
		t.Run(string(later), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := does(fails(reset), fails(&resilience.Failure{What: later, Effect: idempotency.NotDone}))
				result := guard(t, sends(h.handle), resilience.Policy{Keyed: yes})(t.Context())
				require.Equal(t, "unknown", info(t, result).Outcome, "the first attempt may have been sent")
				require.Equal(t, "check", info(t, result).Next)
				require.Contains(t, text(result), "may have gone through anyway")
			})
		})
	}
	t.Run("only a success settles it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			h := does(fails(reset), succeeds)
			require.False(t, guard(t, sends(h.handle), resilience.Policy{Keyed: yes})(t.Context()).IsError)
		})
	})
}

func TestRetryBeginsNothingNewForACallerWhoLeft(t *testing.T) {
	cases := []struct {
		name string
		tool func(*handler) caller
		err  error
		runs int
	}{
		{"a read", func(h *handler) caller {
			return guard(t, reads(h.handle), resilience.Policy{})
		}, reset, 1},
		{"a write that was certainly not done", func(h *handler) caller {
			return guard(t, sends(h.handle), resilience.Policy{Keyed: yes})
		}, down, 1},
		{"but a write that may have been done is finished", func(h *handler) caller {
			return guard(t, sends(h.handle), resilience.Policy{Keyed: yes})
		}, reset, 2},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, leave := context.WithCancel(t.Context())
				h := does(func(context.Context) (*mcp.CallToolResult, error) {
					leave()
					return nil, c.err
				}, succeeds)
				c.tool(h)(ctx)
				require.Equal(t, c.runs, h.runs)
			})
		})
	}
}

func TestRefusedArgumentsAreNoAttempt(t *testing.T) {
	h := does(fails(&resilience.Failure{What: resilience.Invalid, Says: "message is blank. Give the text to send.", NotRun: true, Effect: idempotency.NotDone}))
	result := guard(t, sends(h.handle), resilience.Policy{Keyed: yes})(t.Context())
	require.Equal(t, "Error: reply_to_customer was not run: message is blank. Give the text to send.", text(result))
	require.Equal(t, resilience.ErrorInfo{Kind: "invalid", Attempts: 0, ModelCanFix: true, Next: "change_input", Outcome: "not_done"}, info(t, result))
}

// Another call found out during the wait that the upstream ignores keys.
func TestNotRetriedOnceKeysAreKnownToBeIgnored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, asked := does(fails(reset), succeeds), 0
		call := guard(t, sends(h.handle), resilience.Policy{Keyed: func() bool { asked++; return asked == 1 }})
		require.Equal(t, "unknown", info(t, call(t.Context())).Outcome)
		require.Equal(t, 1, h.runs)
	})
}
