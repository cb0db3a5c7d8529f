package resilience_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/server/resilience"
)

// countingStore counts what is written.
type countingStore struct {
	idempotency.Memory
	claims, saves int
}

func (c *countingStore) Put(ctx context.Context, next idempotency.Record, expected int64) (idempotency.Record, bool, error) {
	if next.State == idempotency.Claimed {
		c.claims++
	} else {
		c.saves++
	}
	return c.Memory.Put(ctx, next, expected)
}

// TestOrder shows by counts that Wrap puts the layers in the order of the package comment:
// Explain( Dedupe( Retry( Timeout( handler )))).
func TestOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := deskThat(hangs, hangs, succeeds)
		policy := d.policy()
		store := new(countingStore)
		policy.Dedupe.Ledger = idempotency.NewLedger(store, idempotency.Config{})
		policy.Attempts = 3
		began := time.Now()
		result := guard(t, sends(d.handle), policy)(t.Context(), withMessage("x"))

		require.False(t, result.IsError)
		require.Equal(t, 3, d.runs, "Timeout inside Retry: two attempts ran out of time, each on its own clock")
		require.GreaterOrEqual(t, time.Since(began), 10*time.Second)
		require.Equal(t, 1, store.claims, "Dedupe outside Retry: one claim for all attempts")
		require.Equal(t, 1, store.saves)
		require.Equal(t, []string{d.keys[0], d.keys[0], d.keys[0]}, d.keys, "and one key")
		require.Equal(t, 3, attempts(result), "Explain outside all: it counts the attempts")
	})
}

// Each layer works alone, in any chain that a server makes of them.
func TestLayersAlone(t *testing.T) {
	t.Run("Retry", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			h := does(fails(reset), succeeds)
			result, err := resilience.Retry(resilience.RetryConfig{})(h.handle)(t.Context(), mcp.CallToolRequest{})
			require.NoError(t, err)
			require.NotNil(t, result)
			require.Equal(t, 2, h.runs)
		})
	})
	t.Run("Retry ends with its context and keeps the last error", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, leave := context.WithCancel(t.Context())
			wait := &resilience.Failure{What: resilience.RateLimited, Wait: time.Hour}
			time.AfterFunc(time.Second, leave)
			_, err := resilience.Retry(resilience.RetryConfig{})(does(fails(wait)).handle)(ctx, mcp.CallToolRequest{})
			require.Equal(t, wait, err)
		})
	})
	t.Run("Dedupe", func(t *testing.T) {
		h := does(succeeds)
		once := resilience.Dedupe(resilience.DedupeConfig{Ledger: inMemory(), Identify: identify})(h.handle)
		for range 3 {
			_, err := once(t.Context(), message("x"))
			require.NoError(t, err)
		}
		require.Equal(t, 1, h.runs)
	})
	t.Run("Dedupe marks a result that is text alone", func(t *testing.T) {
		h := does(func(context.Context) (*mcp.CallToolResult, error) { return mcp.NewToolResultText("sent"), nil })
		once := resilience.Dedupe(resilience.DedupeConfig{Ledger: inMemory(), Identify: identify})(h.handle)
		_, _ = once(t.Context(), message("x"))
		again, err := once(t.Context(), message("x"))
		require.NoError(t, err)
		require.Contains(t, text(again), "Already done")
		require.Equal(t, "sent", again.Content[1].(mcp.TextContent).Text)
	})
	t.Run("Explain", func(t *testing.T) {
		explained := resilience.Explain(resilience.ExplainConfig{Upstream: "Kitebase"})(does(fails(reset)).handle)
		request := mcp.CallToolRequest{}
		request.Params.Name = "send"
		result, err := explained(t.Context(), request)
		require.NoError(t, err)
		require.Contains(t, text(result), "Error: send failed after 1 try: connection reset by Kitebase (KitebaseUnavailable).")
	})
	t.Run("a chain of none is the handler", func(t *testing.T) {
		var h mcpserver.ToolHandlerFunc = does(succeeds).handle
		_, err := resilience.Chain()(h)(t.Context(), mcp.CallToolRequest{})
		require.NoError(t, err)
	})
}
