package delegate_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/client_example/delegate"
)

// TestWhatIsTriedAgain has three attempts for each way to fail. Only silence and bad results use them, and never after a
// tool failed, which the server has tried again already.
func TestWhatIsTriedAgain(t *testing.T) {
	worded := func(context.Context, delegate.Order) (delegate.Finding, error) {
		return delegate.Finding{}, fmt.Errorf("read it: %w", phrase("the run hit its 8-step limit"))
	}
	bad := func(context.Context, delegate.Order) (delegate.Finding, error) {
		return delegate.Finding{}, fmt.Errorf("judge it: %w", delegate.ErrBadResult)
	}
	for name, test := range map[string]struct {
		loop   delegate.SubLoop
		runs   int
		reason delegate.Reason
		text   string
	}{
		"silence":                    {silent, 3, delegate.Stalled, "deep (silent for 5s, 3 tries)"},
		"an empty result":            {empty, 3, delegate.BadResult, "deep (an empty result, 3 tries)"},
		"an uncited result":          {uncited, 3, delegate.BadResult, "deep (no source named, 3 tries)"},
		"a blank source":             {blankSource, 3, delegate.BadResult, "deep (no source named, 3 tries)"},
		"a result that it calls bad": {bad, 3, delegate.BadResult, "deep (a bad result, 3 tries)"},
		"silence after a tool error": {toolFails(silent), 1, delegate.ToolFailed, "deep (silent for 5s after search_help failed, 1 try)"},
		"empty after a tool error":   {toolFails(empty), 1, delegate.ToolFailed, "deep (an empty result after search_help failed, 1 try)"},
		"an error":                   {breaks, 1, delegate.Broken, "deep (it broke off, 1 try)"},
		"an error with words":        {worded, 1, delegate.Broken, "deep (the run hit its 8-step limit, 1 try)"},
		"a panic":                    {panics, 1, delegate.Broken, "deep (it broke off, 1 try)"},
		"the end of the goroutine":   {quits, 1, delegate.Broken, "deep (it broke off, 1 try)"},
		"a loop that hangs":          {deaf, 1, delegate.Hung, "deep (silent for 5s and not to be stopped, 1 try)"},
	} {
		bubble(t, name, func(t *testing.T) {
			deep := play(test.loop)
			answer, err := newDelegate(t, delegate.Config{Attempts: 3}, deep, play(works)).Do(t.Context(), "task", nil)
			require.NoError(t, err)
			require.EqualValues(t, test.runs, deep.runs.Load())
			require.Equal(t, test.reason, answer.Failures[0].Reason)
			require.Equal(t, test.text, answer.Failures[0].Error())
			require.Equal(t, "Degraded: quick answered in place of "+test.text+".", answer.Note())
			time.Sleep(time.Minute) // lets the one that hangs end
		})
	}
}

func blankSource(context.Context, delegate.Order) (delegate.Finding, error) {
	return delegate.Finding{Summary: "Reset it.", Sources: []string{"account-recovery#2", ""}}, nil
}

// phrase is an error that says something for people.
type phrase string

func (p phrase) Error() string  { return "internal: " + string(p) }
func (p phrase) Reason() string { return string(p) }

func TestAttemptThatWorksEndsTheSequence(t *testing.T) {
	for name, test := range map[string]struct{ ways []delegate.SubLoop }{
		"at once":                           {[]delegate.SubLoop{works}},
		"after silence":                     {[]delegate.SubLoop{silent, works}},
		"after a bad result":                {[]delegate.SubLoop{uncited, works}},
		"in spite of a tool that failed":    {[]delegate.SubLoop{toolFails(works)}},
		"after silence, in spite of a tool": {[]delegate.SubLoop{silent, toolFails(works)}},
	} {
		bubble(t, name, func(t *testing.T) {
			deep, quick := play(test.ways...), play(works)
			answer, err := newDelegate(t, delegate.Config{}, deep, quick).Do(t.Context(), "task", nil)
			require.NoError(t, err)
			require.Equal(t, delegate.Answer{ServedBy: "deep", Finding: good}, answer)
			require.Empty(t, answer.Note())
			require.EqualValues(t, len(test.ways), deep.runs.Load())
			require.Zero(t, quick.runs.Load())
		})
	}
}

// TestWaits holds the waits to the table of full jitter, and to be spread over all of it.
func TestWaits(t *testing.T) {
	const base, limit = 100 * time.Millisecond, 500 * time.Millisecond
	bounds := []time.Duration{100 * time.Millisecond, 200 * time.Millisecond, 400 * time.Millisecond, limit, limit}
	least, most := make([]float64, len(bounds)), make([]float64, len(bounds))
	for i := range least {
		least[i] = 1
	}
	synctest.Test(t, func(t *testing.T) {
		for range 100 {
			i := 0
			d := newDelegate(t, delegate.Config{Attempts: 6, BackoffBase: base, BackoffCap: limit}, play(empty), play(works))
			start := time.Now()
			var sum time.Duration
			_, err := d.Do(t.Context(), "task", func(event delegate.Event) {
				if retrying, ok := event.(delegate.Retrying); ok {
					require.Less(t, retrying.Wait, bounds[i])
					require.GreaterOrEqual(t, retrying.Wait, time.Duration(0))
					part := float64(retrying.Wait) / float64(bounds[i])
					least[i], most[i] = min(least[i], part), max(most[i], part)
					sum += retrying.Wait
					i++
				}
			})
			require.NoError(t, err)
			require.Equal(t, len(bounds), i, "one wait fewer than attempts")
			require.Equal(t, sum, time.Since(start), "what is told is what is waited")
		}
	})
	for i := range bounds {
		require.Less(t, least[i], 0.25, "wait %d", i)
		require.Greater(t, most[i], 0.75, "wait %d", i)
	}
}

func TestWaitsAtTheEdges(t *testing.T) {
	for name, cfg := range map[string]delegate.Config{
		"off":              {BackoffBase: -1},
		"longest":          {BackoffBase: 1 << 62, BackoffCap: 1},
		"many with no cap": {BackoffBase: 1, BackoffCap: 1 << 60},
	} {
		bubble(t, name, func(t *testing.T) {
			cfg.Attempts = 64 // one more than the bits of a duration
			deep := play(empty)
			_, err := newDelegate(t, cfg, deep, play(works)).Do(t.Context(), "task", func(event delegate.Event) {
				if retrying, ok := event.(delegate.Retrying); ok {
					require.GreaterOrEqual(t, retrying.Wait, time.Duration(0))
					if name != "many with no cap" {
						require.Zero(t, retrying.Wait)
					}
				}
			})
			require.NoError(t, err)
			require.EqualValues(t, 64, deep.runs.Load())
		})
	}
}
