package resilience_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server/resilience"
)

// crowd begins n calls at once, each with its own context, and waits until all of them run or wait.
func crowd(ctx context.Context, n int, call caller, options ...option) <-chan *mcp.CallToolResult {
	answers := make(chan *mcp.CallToolResult, n)
	for range n {
		go func() { answers <- call(ctx, options...) }()
	}
	synctest.Wait()
	return answers
}

// leftUnseen is the context of a caller who has left while nobody looked: what waits has not been woken for it yet.
type leftUnseen struct{ context.Context }

func (leftUnseen) Err() error { return context.Canceled }

func TestBulkhead(t *testing.T) {
	bubble(t, "64 calls run, 64 wait, and the next is told at once", func(t *testing.T) {
		circuit := resilience.NewCircuit(resilience.BreakerConfig{Threshold: 1})
		h := does(takes(time.Second, succeeds))
		call := guard(t, reads(h.handle), resilience.Policy{Bulkhead: &resilience.BulkheadConfig{}, Circuit: circuit})
		began := time.Now()
		answers := crowd(t.Context(), 128, call)
		require.Equal(t, 64, h.runs)
		for range 3 {
			full := call(t.Context())
			require.Equal(t, "Error: get_ticket was not run: 64 calls of this tool are under way and it can take no more. "+
				"Wait a little before you try again.", text(full))
			require.Equal(t, resilience.ErrorInfo{Kind: resilience.Busy, Next: "wait", Outcome: "not_done"}, info(t, full))
		}
		require.Zero(t, time.Since(began))
		for range 128 {
			require.False(t, (<-answers).IsError)
		}
		require.Equal(t, 2*time.Second, time.Since(began))
		require.Equal(t, resilience.CircuitStatus{State: resilience.Closed}, circuit.Status(), "being full says nothing")
		require.False(t, call(t.Context()).IsError)
	})
	bubble(t, "whoever leaves the queue begins nothing", func(t *testing.T) {
		h := does(takes(time.Second, succeeds))
		call := guard(t, sends(h.handle), resilience.Policy{Bulkhead: &resilience.BulkheadConfig{Calls: 1}})
		first := crowd(t.Context(), 1, call)
		ctx, leave := context.WithCancel(t.Context())
		second := crowd(ctx, 20, call)
		leave()
		for range 20 {
			gone := info(t, <-second)
			require.Equal(t, resilience.Canceled, gone.Kind)
			require.Equal(t, "not_done", gone.Outcome)
		}
		require.False(t, (<-first).IsError)
		require.Equal(t, 1, h.runs)
		require.False(t, call(t.Context()).IsError, "no place is lost")
	})
	bubble(t, "also when the place becomes free at that moment", func(t *testing.T) {
		h := does(takes(time.Second, succeeds))
		layer := resilience.Bulkhead(resilience.BulkheadConfig{Calls: 1})(h.handle)
		go func() { _, _ = layer(t.Context(), message("first")) }()
		synctest.Wait()
		_, err := layer(leftUnseen{t.Context()}, message("second"))
		require.ErrorContains(t, err, "canceled")
		_, err = layer(t.Context(), message("third"))
		require.NoError(t, err, "no place is lost")
		require.Equal(t, 2, h.runs)
	})
	bubble(t, "nobody waits longer than the deadline", func(t *testing.T) {
		h := does(hangs)
		call := guard(t, reads(h.handle), resilience.Policy{
			Bulkhead: &resilience.BulkheadConfig{Calls: 1}, AttemptTimeout: -1, Attempts: -1, CallDeadline: 25 * time.Second,
		})
		first := crowd(t.Context(), 1, call)
		began := time.Now()
		second := crowd(t.Context(), 1, call, withDeadline(2000))
		require.Equal(t, resilience.Busy, info(t, <-second).Kind)
		require.Equal(t, 2*time.Second, time.Since(began))
		<-first
		require.Equal(t, 1, h.runs)
	})
	bubble(t, "a panic frees its place", func(t *testing.T) {
		h := does(panics, succeeds)
		call := guard(t, reads(h.handle), resilience.Policy{Bulkhead: &resilience.BulkheadConfig{Calls: 1, Queue: -1}})
		require.True(t, call(t.Context()).IsError)
		require.False(t, call(t.Context()).IsError)
	})
	bubble(t, "without a queue the second call is told at once", func(t *testing.T) {
		call := guard(t, reads(does(takes(time.Second, succeeds)).handle), resilience.Policy{Bulkhead: &resilience.BulkheadConfig{Calls: 1, Queue: -1}})
		first := crowd(t.Context(), 1, call)
		require.Equal(t, resilience.Busy, info(t, call(t.Context())).Kind)
		<-first
	})
	bubble(t, "switched off all calls run", func(t *testing.T) {
		h := does(takes(time.Second, succeeds))
		call := guard(t, reads(h.handle), resilience.Policy{Bulkhead: &resilience.BulkheadConfig{Calls: -1}})
		answers := crowd(t.Context(), 200, call)
		require.Equal(t, 200, h.runs)
		for range 200 {
			<-answers
		}
	})
	bubble(t, "one hung tool leaves another as fast", func(t *testing.T) {
		policy := resilience.Policy{Bulkhead: &resilience.BulkheadConfig{}}
		hung := guard(t, reads(does(hangs).handle), policy)
		quick := guard(t, sets(does(succeeds).handle), policy)
		stuck := crowd(t.Context(), 128, hung)
		began := time.Now()
		for range 100 {
			require.False(t, quick(t.Context()).IsError)
		}
		require.Zero(t, time.Since(began))
		for range 128 {
			<-stuck
		}
	})
}
