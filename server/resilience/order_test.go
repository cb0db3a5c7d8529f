package resilience_test

import (
	"context"
	"sync"
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
	mu            sync.Mutex
	claims, saves int
}

func (c *countingStore) Put(ctx context.Context, next idempotency.Record, expected int64) (idempotency.Record, bool, error) {
	c.mu.Lock()
	switch {
	case next.State != idempotency.Claimed:
		c.saves++
	case expected == 0: // else it is a renewal
		c.claims++
	}
	c.mu.Unlock()
	return c.Memory.Put(ctx, next, expected)
}

// TestOrder shows by counts that Wrap puts the layers in the order of the package comment, each pair of neighbours that can
// be told apart:
//
//	Explain( RepeatGuard( Dedupe( Fallback( Bulkhead( CircuitBreaker( Retry( Timeout( handler ))))))))
func TestOrder(t *testing.T) {
	counted := func(d *desk) (resilience.Policy, *countingStore) {
		policy, store := d.policy(), new(countingStore)
		policy.Dedupe.Ledger = idempotency.NewLedger(store, idempotency.Config{})
		return policy, store
	}
	bubble(t, "Explain, Dedupe, Retry, Timeout", func(t *testing.T) {
		d := deskThat(hangs, hangs, succeeds)
		policy, store := counted(d)
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
	bubble(t, "RepeatGuard outside Dedupe: a blocked call claims nothing", func(t *testing.T) {
		d := deskThat(fails(missing))
		policy, store := counted(d)
		policy.RepeatGuard = &resilience.RepeatGuardConfig{}
		call := guard(t, sends(d.handle), policy)
		for range 3 {
			call(t.Context(), withMessage("x"))
		}
		require.Equal(t, notRun, text(call(t.Context(), withMessage("x"))), "Explain outside RepeatGuard: it words the refusal")
		require.Equal(t, []int{2, 2}, []int{store.claims, d.runs})
	})
	bubble(t, "Dedupe outside CircuitBreaker: what was sent is told while the circuit is open", func(t *testing.T) {
		d := deskThat(succeeds, fails(down))
		policy, _ := counted(d)
		policy.Circuit = resilience.NewCircuit(resilience.BreakerConfig{Threshold: 1})
		call := guard(t, sends(d.handle), policy)
		call(t.Context(), withMessage("x"))
		call(t.Context(), withMessage("y"))
		require.Equal(t, resilience.Open, policy.Circuit.Status().State)
		require.Contains(t, text(call(t.Context(), withMessage("x"))), "Already done")
	})
	bubble(t, "Dedupe outside Bulkhead: and while the tool is busy", func(t *testing.T) {
		d := deskThat(succeeds, takes(time.Second, succeeds))
		policy, _ := counted(d)
		policy.Bulkhead = &resilience.BulkheadConfig{Calls: 1, Queue: -1}
		call := guard(t, sends(d.handle), policy)
		call(t.Context(), withMessage("x"))
		busy := crowd(t.Context(), 1, call, withMessage("y"))
		require.Equal(t, resilience.Busy, info(t, call(t.Context(), withMessage("z"))).Kind)
		require.Contains(t, text(call(t.Context(), withMessage("x"))), "Already done")
		<-busy
	})
	bubble(t, "Fallback outside Bulkhead and CircuitBreaker: it bridges both", func(t *testing.T) {
		seen, h := new(last), does(succeeds, takes(time.Second, fails(reset)))
		circuit := resilience.NewCircuit(resilience.BreakerConfig{Threshold: 1})
		call := guard(t, reads(h.handle), resilience.Policy{
			Fallback: seen.config(), Bulkhead: &resilience.BulkheadConfig{Calls: 1, Queue: -1}, Circuit: circuit, Attempts: -1,
		})
		call(t.Context())
		busy := crowd(t.Context(), 1, call)
		require.Contains(t, text(call(t.Context())), "Too many calls of this tool are under way; this copy")
		require.Contains(t, text(<-busy), "Kitebase is not answering; this copy")
		require.Equal(t, resilience.Open, circuit.Status().State)
		require.Contains(t, text(call(t.Context())), "Kitebase is not answering; this copy")
		require.Equal(t, 2, h.runs)
	})
	bubble(t, "Bulkhead outside CircuitBreaker: who finds no place does not get as far as the circuit", func(t *testing.T) {
		circuit := resilience.NewCircuit(resilience.BreakerConfig{Threshold: 1})
		slow := guard(t, reads(does(takes(time.Second, succeeds)).handle), resilience.Policy{
			Bulkhead: &resilience.BulkheadConfig{Calls: 1, Queue: -1}, Circuit: circuit})
		broken := guard(t, reads(does(fails(reset)).handle), resilience.Policy{Circuit: circuit})
		busy := crowd(t.Context(), 1, slow)
		broken(t.Context())
		require.Equal(t, resilience.CircuitOpen, info(t, broken(t.Context())).Kind)
		require.Equal(t, resilience.Busy, info(t, slow(t.Context())).Kind)
		<-busy
	})
	bubble(t, "CircuitBreaker outside Retry: a refusal is not retried", func(t *testing.T) {
		h := does(fails(reset))
		call := guard(t, reads(h.handle), resilience.Policy{Circuit: resilience.NewCircuit(resilience.BreakerConfig{}), Attempts: 3})
		for range 5 {
			call(t.Context())
		}
		began := time.Now()
		require.Equal(t, 0, info(t, call(t.Context())).Attempts)
		require.Zero(t, time.Since(began))
		require.Equal(t, 15, h.runs, "five failed calls of three attempts each opened it, not five attempts")
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
