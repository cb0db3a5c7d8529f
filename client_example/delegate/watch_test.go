package delegate_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/client_example/agent"
	"github.com/kitebase/kitebase-mcp/client_example/delegate"
)

func TestSilence(t *testing.T) {
	once := delegate.Config{Stall: time.Second, Attempts: -1}
	const nearly = 900 * time.Millisecond

	bubble(t, "is measured from event to event", func(t *testing.T) {
		d := newDelegate(t, once, play(talks(silent, nearly, nearly, nearly)), play(works))
		start := time.Now()
		answer, err := d.Do(t.Context(), "task", nil)
		require.NoError(t, err)
		require.Equal(t, 3*nearly+time.Second, time.Since(start))
		require.Equal(t, delegate.Stalled, answer.Failures[0].Reason)
		require.Equal(t, "deep (silent for 1s, 1 try)", answer.Failures[0].Error())
	})
	bubble(t, "is not found in a loop that talks slowly, however long it takes", func(t *testing.T) {
		gaps := make([]time.Duration, 50)
		for i := range gaps {
			gaps[i] = nearly
		}
		start := time.Now()
		require.Equal(t, "deep", servedBy(newDelegate(t, once, play(talks(works, gaps...)), play(works))))
		require.Equal(t, 50*nearly, time.Since(start))
	})
	bubble(t, "can be allowed for ever", func(t *testing.T) {
		slow := func(ctx context.Context, order delegate.Order) (delegate.Finding, error) {
			require.Zero(t, order.Patience)
			time.Sleep(time.Hour)
			return good, nil
		}
		require.Equal(t, "deep", servedBy(newDelegate(t, delegate.Config{Stall: -1}, play(slow), play(works))))
	})
	bubble(t, "of the listener is not the loop's", func(t *testing.T) {
		d := newDelegate(t, once, play(talks(works, 0, 0)), play(works))
		answer, err := d.Do(t.Context(), "task", func(delegate.Event) { time.Sleep(time.Minute) })
		require.NoError(t, err)
		require.Equal(t, "deep", answer.ServedBy)
	})
}

// TestStalledLoop holds that the loop is told to end, and that what it does from then on counts for nothing.
func TestStalledLoop(t *testing.T) {
	bubble(t, "is cancelled, and its late result and events are dropped", func(t *testing.T) {
		var heard recorder
		late := func(ctx context.Context, order delegate.Order) (delegate.Finding, error) {
			<-ctx.Done()
			order.Tell(agent.Said{Text: "late"})
			return good, nil
		}
		d := newDelegate(t, delegate.Config{}, play(late), play(works))
		answer, err := d.Do(t.Context(), "task", heard.hear)
		require.NoError(t, err)
		require.Equal(t, "quick", answer.ServedBy)
		require.Equal(t, []string{
			"deep: attempt 1", "retrying: deep (silent for 5s, 1 try)",
			"deep: attempt 2", "gave up: deep (silent for 5s, 2 tries)",
			"quick: attempt 1",
		}, heard.lines)
	})
	bubble(t, "has ended when the next attempt begins", func(t *testing.T) {
		running := 0 // no lock: the race detector would see two at once
		tidying := func(ctx context.Context, _ delegate.Order) (delegate.Finding, error) {
			running++
			require.Equal(t, 1, running)
			<-ctx.Done()
			time.Sleep(50 * time.Millisecond) // within the grace
			running--
			return good, nil
		}
		deep := play(tidying)
		require.Equal(t, "quick", servedBy(newDelegate(t, delegate.Config{}, deep, play(works))))
		require.EqualValues(t, 2, deep.runs.Load())
	})
	bubble(t, "that cannot be stopped is left to itself, and not run a second time", func(t *testing.T) {
		deep := play(deaf)
		d := newDelegate(t, delegate.Config{Stall: time.Second, Grace: 200 * time.Millisecond, Attempts: 5}, deep, play(works))
		start := time.Now()
		answer, err := d.Do(t.Context(), "task", nil)
		require.NoError(t, err)
		require.Equal(t, 1200*time.Millisecond, time.Since(start))
		require.Equal(t, "quick", answer.ServedBy)
		require.Equal(t, delegate.Hung, answer.Failures[0].Reason)
		require.Equal(t, "deep (silent for 1s and not to be stopped, 1 try)", answer.Failures[0].Error())
		require.EqualValues(t, 1, deep.runs.Load())
		time.Sleep(time.Minute)
		synctest.Wait() // its late result has a place to go to: else the bubble would end in a deadlock
	})
	bubble(t, "is not waited for without grace", func(t *testing.T) {
		start := time.Now()
		require.Equal(t, "quick", servedBy(newDelegate(t, delegate.Config{Stall: time.Second, Grace: -1}, play(deaf), play(works))))
		require.Equal(t, time.Second, time.Since(start))
		time.Sleep(time.Minute)
	})
}

func TestLateEventOfALoopThatIsLeftToItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var heard recorder
		told := false
		late := func(ctx context.Context, order delegate.Order) (delegate.Finding, error) {
			time.Sleep(time.Minute)
			order.Tell(agent.Said{Text: "late"})
			told = true
			panic("and a late panic")
		}
		_, err := newDelegate(t, delegate.Config{}, play(late), play(works)).Do(t.Context(), "task", heard.hear)
		require.NoError(t, err)
		before := len(heard.lines)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		require.True(t, told, "Tell must not hold a loop that nobody hears")
		require.Len(t, heard.lines, before)
	})
}
