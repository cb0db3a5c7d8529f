package delegate_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/client_example/delegate"
)

var errGone = errors.New("the customer closed the ticket")

// TestCallerThatLeaves is answered at once, in whatever the task is just then, and no other path is begun for it.
func TestCallerThatLeaves(t *testing.T) {
	for name, test := range map[string]struct {
		deep  delegate.SubLoop
		after time.Duration
		runs  int32
	}{
		"before it begins":              {silent, 0, 0},
		"in an attempt":                 {silent, 3 * time.Second, 1},
		"in the second attempt":         {silent, 8 * time.Second, 2},
		"in a wait":                     {empty, 1, 1},
		"at the very time of the stall": {silent, 5 * time.Second, 1},
	} {
		bubble(t, name, func(t *testing.T) {
			deep, quick := play(test.deep), play(works)
			d := newDelegate(t, delegate.Config{Threshold: 1, BackoffBase: time.Second}, deep, quick)
			ctx, cancel := context.WithCancelCause(t.Context())
			if test.after == 0 {
				cancel(errGone)
			}
			time.AfterFunc(test.after, func() { cancel(errGone) })
			start := time.Now()
			_, err := d.Do(ctx, "task", nil)
			require.ErrorIs(t, err, errGone)
			require.ErrorContains(t, err, "delegate a task: the caller cut the task short")
			require.Equal(t, test.after, time.Since(start))
			require.Equal(t, test.runs, deep.runs.Load())
			require.Zero(t, quick.runs.Load())
			_, _ = d.Do(t.Context(), "task", nil)
			require.Greater(t, deep.runs.Load(), test.runs, "it did not count: the circuit is closed")
		})
	}
}

func TestCallerThatLeftIsNotToldOfCircuits(t *testing.T) {
	d := newDelegate(t, delegate.Config{Threshold: 1}, play(breaks), play(breaks))
	require.Equal(t, "nobody", servedBy(d))
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errGone)
	_, err := d.Do(ctx, "task", nil)
	require.ErrorIs(t, err, errGone)
}

func TestCallersDeadline(t *testing.T) {
	bubble(t, "ends a silent loop, uncounted", func(t *testing.T) {
		deep := play(silent)
		d := newDelegate(t, delegate.Config{Threshold: 1}, deep, play(works))
		for n := range 3 {
			ctx, cancel := context.WithTimeout(t.Context(), 800*time.Millisecond)
			start := time.Now()
			_, err := d.Do(ctx, "task", nil)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.Equal(t, 800*time.Millisecond, time.Since(start))
			require.EqualValues(t, n+1, deep.runs.Load())
			cancel()
		}
	})
	bubble(t, "is overshot by no more than the grace when a loop cannot be stopped", func(t *testing.T) {
		d := newDelegate(t, delegate.Config{}, play(deaf), play(works))
		ctx, cancel := context.WithTimeout(t.Context(), 800*time.Millisecond)
		defer cancel()
		start := time.Now()
		_, err := d.Do(ctx, "task", nil)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, 900*time.Millisecond, time.Since(start))
		time.Sleep(time.Minute)
	})
	bubble(t, "keeps a loop that ends by itself at just that time from being counted", func(t *testing.T) {
		var over *time.Timer // older than the context's, so that the loop is the first to know
		punctual := func(context.Context, delegate.Order) (delegate.Finding, error) {
			<-over.C
			return delegate.Finding{}, errors.New("my time is over")
		}
		deep := play(punctual)
		d := newDelegate(t, delegate.Config{Threshold: 1}, deep, play(works))
		for n := range 3 {
			over = time.NewTimer(time.Second)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			_, err := d.Do(ctx, "task", nil)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.EqualValues(t, n+1, deep.runs.Load())
			cancel()
		}
	})
	bubble(t, "leaves no wait begun that it cannot hold: the next path has the time", func(t *testing.T) {
		deep := play(empty)
		cfg := delegate.Config{Attempts: 1000, BackoffBase: time.Hour, BackoffCap: time.Hour}
		d := newDelegate(t, cfg, deep, play(works))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		answer, err := d.Do(ctx, "task", nil)
		require.NoError(t, err)
		require.Equal(t, "quick", answer.ServedBy)
		require.Less(t, time.Since(start), time.Second)
		require.Less(t, deep.runs.Load(), int32(20), "waits of half an hour do not fit")
	})
}

// TestCauseWithFailuresBeneath cancels a task because another one is exhausted, as Run does. The failures in the cause
// are the other one's.
func TestCauseWithFailuresBeneath(t *testing.T) {
	bubble(t, "is a caller that left", func(t *testing.T) {
		quick := play(works)
		d := newDelegate(t, delegate.Config{}, play(silent), quick)
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() {
			cancel(&delegate.Exhausted{Failures: []*delegate.Failure{{Path: "other", Reason: delegate.Stalled}}})
		})
		_, err := d.Do(ctx, "task", nil)
		require.ErrorContains(t, err, "the caller cut the task short")
		require.Zero(t, quick.runs.Load())
	})
	bubble(t, "or a delegate within a sub-loop is one path that broke", func(t *testing.T) {
		inner := newDelegate(t, delegate.Config{Threshold: 1, Attempts: -1}, play(silent), play(silent))
		nested := func(ctx context.Context, order delegate.Order) (delegate.Finding, error) {
			answer, err := inner.Do(ctx, order.Task, nil)
			return answer.Finding, err
		}
		outer := newDelegate(t, delegate.Config{Stall: time.Minute, Threshold: 2}, play(nested), play(works))
		for range 2 { // the second time, the inner circuits are open, which is no refusal of the outer one
			answer, err := outer.Do(t.Context(), "task", nil)
			require.NoError(t, err)
			require.Equal(t, delegate.Broken, answer.Failures[0].Reason)
			require.Equal(t, "deep (it broke off, 1 try)", answer.Failures[0].Error())
		}
		answer, err := outer.Do(t.Context(), "task", nil)
		require.NoError(t, err)
		require.Equal(t, delegate.CircuitOpen, answer.Failures[0].Reason)
	})
}

func TestExhausted(t *testing.T) {
	bubble(t, "names each path", func(t *testing.T) {
		var heard recorder
		_, err := newDelegate(t, delegate.Config{}, play(silent), play(breaks)).Do(t.Context(), "task", heard.hear)
		require.EqualError(t, err, "every path failed: deep (silent for 5s, 2 tries), quick (it broke off, 1 try)")
		var exhausted *delegate.Exhausted
		require.ErrorAs(t, err, &exhausted)
		require.Len(t, exhausted.Failures, 2)
		require.EqualError(t, exhausted.Failures[1].Err, "dial tcp 10.0.0.1: secret")
		require.NotContains(t, err.Error(), "secret", "what lies beneath is for logs")
		require.Equal(t, "gave up: quick (it broke off, 1 try)", heard.lines[len(heard.lines)-1])
	})
}
