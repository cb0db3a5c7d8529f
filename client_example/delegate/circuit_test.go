package delegate_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/client_example/delegate"
)

// circuit writes down the changes of the circuit of "deep".
type circuit struct {
	mu     sync.Mutex
	states []string
}

func (c *circuit) changed(path, state string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if path == "deep" {
		c.states = append(c.states, state)
	}
}

func TestCircuit(t *testing.T) {
	bubble(t, "counts an exhausted sequence once, whatever its attempts", func(t *testing.T) {
		deep := play(empty)
		d := newDelegate(t, delegate.Config{Threshold: 2, Attempts: 5}, deep, play(works))
		for _, runs := range []int32{5, 10, 10, 10} {
			require.Equal(t, "quick", servedBy(d))
			require.Equal(t, runs, deep.runs.Load())
		}
	})
	bubble(t, "counts failures in a row", func(t *testing.T) {
		deep := play(breaks, works, breaks, works, breaks)
		d := newDelegate(t, delegate.Config{Threshold: 2}, deep, play(works))
		for range 5 {
			servedBy(d)
		}
		require.EqualValues(t, 5, deep.runs.Load(), "it never opened")
	})
	bubble(t, "goes straight to the next path while it is open", func(t *testing.T) {
		deep := play(silent)
		d := newDelegate(t, delegate.Config{Threshold: 1}, deep, play(works))
		require.Equal(t, "quick", servedBy(d))
		var heard recorder
		start := time.Now()
		answer, err := d.Do(t.Context(), "task", heard.hear)
		require.NoError(t, err)
		require.Zero(t, time.Since(start))
		require.Equal(t, delegate.CircuitOpen, answer.Failures[0].Reason)
		require.Equal(t, []string{"gave up: deep (not asked, as it kept failing)", "quick: attempt 1"}, heard.lines)
	})
	bubble(t, "is one for each path", func(t *testing.T) {
		deep, quick := play(breaks), play(works, breaks, works)
		d := newDelegate(t, delegate.Config{Threshold: 2}, deep, quick)
		for _, want := range []string{"quick", "nobody", "quick", "quick"} {
			require.Equal(t, want, servedBy(d))
		}
		require.EqualValues(t, 2, deep.runs.Load())
		require.EqualValues(t, 4, quick.runs.Load())
	})
	bubble(t, "can be turned off", func(t *testing.T) {
		deep := play(breaks)
		d := newDelegate(t, delegate.Config{Threshold: -1}, deep, play(works))
		for range 20 {
			servedBy(d)
		}
		require.EqualValues(t, 20, deep.runs.Load())
	})
}

// TestCircuitIsSharedByConcurrentRuns has each run fail at the same time as the others, and then a crowd of runs meet one
// probe.
func TestCircuitIsSharedByConcurrentRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen circuit
		working := func(ctx context.Context, order delegate.Order) (delegate.Finding, error) {
			time.Sleep(time.Second)
			return good, nil
		}
		deep := play(silent, silent, silent, working)
		cfg := delegate.Config{Threshold: 3, Attempts: -1, Cooldown: time.Minute, OnCircuit: seen.changed}
		d := newDelegate(t, cfg, deep, play(works))
		crowd := func(n int) map[string]int {
			served := make(chan string, n)
			for range n {
				go func() { served <- servedBy(d) }()
			}
			counts := map[string]int{}
			for range n {
				counts[<-served]++
			}
			return counts
		}
		require.Equal(t, map[string]int{"quick": 3}, crowd(3))
		require.Equal(t, []string{"open"}, seen.states, "three runs of one failure each")
		require.Equal(t, map[string]int{"quick": 10}, crowd(10))
		require.EqualValues(t, 3, deep.runs.Load(), "what one run learnt holds for all")
		time.Sleep(time.Minute + 1)
		require.Equal(t, map[string]int{"deep": 1, "quick": 9}, crowd(10), "one probe, and nobody waits for it")
		require.Equal(t, []string{"open", "half-open", "closed"}, seen.states)
		require.Equal(t, map[string]int{"deep": 10}, crowd(10))
	})
}

// TestProbeFreesItsPlace ends the probe in every way there is. In the field, circuits stayed half-open for days because a
// probe kept its place. After a failure the circuit is open for another cooldown; after nothing that counts the very next
// task is the probe.
func TestProbeFreesItsPlace(t *testing.T) {
	cut := func(after time.Duration) func() (context.Context, context.CancelFunc) {
		return func() (context.Context, context.CancelFunc) {
			return context.WithTimeout(context.Background(), after)
		}
	}
	leave := func() (context.Context, context.CancelFunc) {
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(time.Second, cancel)
		return ctx, cancel
	}
	for name, test := range map[string]struct {
		probe  delegate.SubLoop
		caller func() (context.Context, context.CancelFunc)
		runs   int // of the probe's sub-loop
		failed bool
	}{
		"cancelled":                    {silent, leave, 1, false},
		"cancelled, but not to stop":   {deaf, leave, 1, false},
		"cut by the caller's deadline": {silent, cut(time.Second), 1, false},
		"bad results":                  {empty, cut(time.Hour), 2, true},
		"stalled":                      {silent, cut(time.Hour), 2, true},
		"hung":                         {deaf, cut(time.Hour), 1, true},
		"a panic":                      {panics, cut(time.Hour), 1, true},
		"the end of the goroutine":     {quits, cut(time.Hour), 1, true},
		"an error":                     {breaks, cut(time.Hour), 1, true},
		"a tool that failed":           {toolFails(empty), cut(time.Hour), 1, true},
	} {
		bubble(t, name, func(t *testing.T) {
			var seen circuit
			deep := play(slices.Concat([]delegate.SubLoop{breaks}, slices.Repeat([]delegate.SubLoop{test.probe}, test.runs), []delegate.SubLoop{works})...)
			d := newDelegate(t, delegate.Config{Threshold: 1, Cooldown: time.Minute, OnCircuit: seen.changed}, deep, play(works))
			require.Equal(t, "quick", servedBy(d))
			time.Sleep(time.Minute + 1)
			ctx, cancel := test.caller()
			defer cancel()
			_, err := d.Do(ctx, "task", nil)
			require.Equal(t, test.failed, err == nil, "a caller that left gets no answer")
			if test.failed {
				require.Equal(t, "quick", servedBy(d), "open again")
				time.Sleep(time.Minute + 1)
			}
			require.Equal(t, "deep", servedBy(d), "the place of the probe is free")
			require.Equal(t, "closed", seen.states[len(seen.states)-1])
			time.Sleep(time.Minute)
		})
	}
}

// TestPanickingListener holds that a listener cannot keep the probe's place either.
func TestPanickingListener(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDelegate(t, delegate.Config{Threshold: 1, Cooldown: time.Minute}, play(breaks, works), play(works))
		require.Equal(t, "quick", servedBy(d))
		time.Sleep(time.Minute + 1)
		require.PanicsWithValue(t, "listener", func() {
			_, _ = d.Do(t.Context(), "task", func(delegate.Event) { panic("listener") })
		})
		time.Sleep(time.Minute + 1)
		require.Equal(t, "deep", servedBy(d))
	})
}
