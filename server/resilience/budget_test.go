package resilience_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/server/resilience"
)

func TestRetryBudget(t *testing.T) {
	budgeted := func(t *testing.T, h *handler, budget *resilience.RetryBudget) caller {
		return guard(t, reads(h.handle), resilience.Policy{Budget: budget})
	}
	bubble(t, "ten tokens, one for each failure, none while half or less are left", func(t *testing.T) {
		h, budget := does(fails(reset)), resilience.NewRetryBudget(0)
		call := budgeted(t, h, budget)
		call(t.Context()) // 10 to 9, retried, to 8
		call(t.Context()) // to 6
		require.Equal(t, 4, h.runs)
		require.False(t, budget.Exhausted())
		last := call(t.Context()) // to 5
		require.Equal(t, 5, h.runs)
		require.True(t, budget.Exhausted())
		require.Equal(t, "Error: get_ticket failed after 1 try: connection reset by Kitebase (KitebaseUnavailable). "+
			"It was not retried, because Kitebase is failing broadly. Kitebase may be slow or down.", text(last))
	})
	bubble(t, "each answer brings a tenth back", func(t *testing.T) {
		budget := resilience.NewRetryBudget(0)
		failing := budgeted(t, does(fails(reset)), budget)
		for range 20 {
			failing(t.Context())
		}
		well := budgeted(t, does(succeeds), budget)
		missing := budgeted(t, does(fails(&resilience.Failure{What: resilience.NotFound, Effect: idempotency.NotDone})), budget)
		for range 25 { // 0 to 5
			well(t.Context())
			missing(t.Context())
		}
		require.True(t, budget.Exhausted(), "half is not enough")
		well(t.Context())
		require.False(t, budget.Exhausted())
	})
	bubble(t, "it is shared by all tools", func(t *testing.T) {
		budget := resilience.NewRetryBudget(0)
		failing := budgeted(t, does(fails(reset)), budget)
		for range 5 {
			failing(t.Context())
		}
		h := does(fails(reset))
		other := guard(t, sets(h.handle), resilience.Policy{Budget: budget})(t.Context())
		require.Equal(t, 1, h.runs)
		require.Contains(t, text(other), "It was not retried, because Kitebase is failing broadly.")
	})
	bubble(t, "a call that would not have been retried does not blame it", func(t *testing.T) {
		budget := resilience.NewRetryBudget(1)
		result := guard(t, reads(does(fails(reset)).handle), resilience.Policy{Budget: budget, Attempts: -1})(t.Context())
		require.True(t, budget.Exhausted())
		require.NotContains(t, text(result), "broadly")
	})
	bubble(t, "what is being waited out needs none", func(t *testing.T) {
		budget := resilience.NewRetryBudget(1)
		budgeted(t, does(fails(reset)), budget)(t.Context())
		h := does(fails(&resilience.Failure{What: resilience.InProgress}), succeeds)
		require.False(t, budgeted(t, h, budget)(t.Context()).IsError)
		require.Equal(t, 2, h.runs)
	})
	bubble(t, "an impatient caller costs the others nothing", func(t *testing.T) {
		budget := resilience.NewRetryBudget(0)
		call := budgeted(t, does(cut), budget)
		for range 50 {
			ctx, leave := context.WithCancel(t.Context())
			time.AfterFunc(time.Millisecond, leave)
			call(ctx)
			budgeted(t, does(hangs), budget)(t.Context(), withDeadline(1))
		}
		require.False(t, budget.Exhausted())
	})
	bubble(t, "limits are failures to it: a retry is one more request", func(t *testing.T) {
		budget := resilience.NewRetryBudget(0)
		call := budgeted(t, does(fails(&resilience.Failure{What: resilience.RateLimited})), budget)
		for range 5 {
			call(t.Context())
		}
		require.True(t, budget.Exhausted())
	})
	bubble(t, "switched off nothing is refused", func(t *testing.T) {
		budget := resilience.NewRetryBudget(-1)
		h := does(fails(reset))
		for range 50 {
			budgeted(t, h, budget)(t.Context())
		}
		require.Equal(t, 100, h.runs)
		require.False(t, budget.Exhausted())
	})
}

// However calls end, a full budget lets at most half of its tokens, and a tenth of the answers, be retried.
func TestRetryBudgetBoundsTheRetries(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		budget := resilience.NewRetryBudget(0)
		calls := rapid.SliceOfN(rapid.Bool(), 1, 200).Draw(r, "which calls succeed")
		bad := &resilience.Failure{What: resilience.Unavailable}
		retries, answered := 0, 0
		for _, well := range calls {
			h := does(fails(bad))
			if well {
				h, answered = does(succeeds), answered+1
			}
			layer := resilience.Retry(resilience.RetryConfig{Budget: budget, BackoffBase: 1, BackoffCap: 1})
			_, _ = layer(h.handle)(t.Context(), message("x"))
			retries += h.runs - 1
		}
		require.LessOrEqual(t, float64(retries), 5+0.1*float64(answered))
	})
}
