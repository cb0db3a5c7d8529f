package delegate_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/client_example/agent"
	"github.com/kitebase/kitebase-mcp/client_example/delegate"
)

// TestLoopTellsItsToolsHowLongTheyHave: the server below must give up, and say so, before the loop counts as silent, or
// its own tries would be repeated from above; and it must give up before the caller does.
func TestLoopTellsItsToolsHowLongTheyHave(t *testing.T) {
	for name, test := range map[string]struct {
		patience, caller, own, want time.Duration
	}{
		"less than the patience":        {5 * time.Second, 0, 0, 4500 * time.Millisecond},
		"what the caller has left":      {5 * time.Second, 2 * time.Second, 0, 2 * time.Second},
		"what the loop itself has left": {0, time.Minute, 7 * time.Second, 7 * time.Second},
		"nothing but the caller's":      {0, time.Minute, 0, time.Minute},
		"the limit of any agent":        {0, 0, 0, 30 * time.Second},
	} {
		bubble(t, name, func(t *testing.T) {
			ctx := t.Context()
			if test.caller > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, test.caller)
				defer cancel()
			}
			var told time.Duration
			tools := help{func(ctx context.Context, call agent.Call) (agent.Result, error) {
				told = call.Remaining
				return finds(ctx, call)
			}}
			loop := delegate.Loop{Model: turns(search, says(goodText)), Tools: tools, Config: agent.Config{Deadline: test.own}}
			_, err := loop.Run(ctx, order(test.patience))
			require.NoError(t, err)
			require.Equal(t, test.want, told)
		})
	}
}

// TestSlowToolIsAToolThatFailed has a tool that the server below gives up at the time it was told.
func TestSlowToolIsAToolThatFailed(t *testing.T) {
	bubble(t, "not a silent loop", func(t *testing.T) {
		calls := 0
		slow := help{func(_ context.Context, call agent.Call) (agent.Result, error) {
			calls++
			time.Sleep(call.Remaining)
			return agent.Result{Text: "Error: search_help failed after 2 tries.", IsError: true}, nil
		}}
		d, err := delegate.New(delegate.Config{}, delegate.DeepResearch(turns(search, says("I found nothing.")), slow))
		require.NoError(t, err)
		_, err = d.Do(t.Context(), "task", nil)
		require.EqualError(t, err, "every path failed: deep-research (an answer that is no finding after search_help failed, 1 try)")
		require.Equal(t, 1, calls)
	})
}

// TestSilentModel has the model of the loop hang, which is how sub-loops stall in the field.
func TestSilentModel(t *testing.T) {
	bubble(t, "is tried again, then the next path serves", func(t *testing.T) {
		hangs := modelFunc(func(ctx context.Context, request agent.Request) (agent.Turn, error) {
			if len(request.Messages) == 1 {
				time.Sleep(4 * time.Second) // slow, but it talks then
				return search, nil
			}
			<-ctx.Done()
			return agent.Turn{}, ctx.Err()
		})
		tools := help{finds}
		d, err := delegate.New(delegate.Config{BackoffBase: -1},
			delegate.DeepResearch(hangs, tools), delegate.QuickSearch(turns(search, says(goodText)), tools))
		require.NoError(t, err)
		start := time.Now()
		answer, err := d.Do(t.Context(), "task", nil)
		require.NoError(t, err)
		require.Equal(t, "Degraded: quick-search answered in place of deep-research (silent for 5s, 2 tries).", answer.Note())
		require.Equal(t, 18*time.Second, time.Since(start))
	})
}
