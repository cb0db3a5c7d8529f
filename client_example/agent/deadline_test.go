package agent_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kitebase/kitebase-mcp/client_example/agent"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// slow is a tool that needs d, but gives up when the time it was told is over and says so itself.
func slow(d time.Duration) toolFunc {
	return func(_ context.Context, call agent.Call) (agent.Result, error) {
		if call.Remaining > 0 && call.Remaining < d {
			time.Sleep(call.Remaining)
			return failed("no response in time"), nil
		}
		time.Sleep(d)
		return ok("late"), nil
	}
}

// hangs is a tool that answers nothing until its context ends.
func hangs(ctx context.Context, _ agent.Call) (agent.Result, error) {
	<-ctx.Done()
	return agent.Result{}, ctx.Err()
}

func TestRunDeadline(t *testing.T) {
	bubble := func(name string, test func(t *testing.T)) {
		t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
	}
	limit := agent.Config{Deadline: 800 * time.Millisecond}

	bubble("ends the run before the next turn", func(t *testing.T) {
		m := tape(asks(`look {"n": 1}`), asks(`look {"n": 2}`), says("never asked"))
		report, box := run(t, m, map[string]toolFunc{"look": slow(450 * time.Millisecond)}, limit)
		require.Equal(t, agent.Deadline, report.Reason)
		require.Equal(t, "the run hit its 0.8s time limit", report.Why)
		require.Equal(t, 3, report.Steps)
		require.Len(t, m.requests, 2)
		require.Equal(t, 800*time.Millisecond, report.Elapsed)
		require.Equal(t, 800*time.Millisecond, box.calls[0].Remaining)
		require.Equal(t, 350*time.Millisecond, box.calls[1].Remaining)
		require.Equal(t, "Error: no response in time", lastResults(t, report)[0].Text, "the tool can say what happened")
	})
	bubble("is told rounded up, so that a tool that uses it up ends the run", func(t *testing.T) {
		cfg := agent.Config{Deadline: 800*time.Millisecond + 300*time.Microsecond}
		m := tape(asks("look"), says("never asked"))
		report, box := run(t, m, map[string]toolFunc{"look": slow(time.Second)}, cfg)
		require.Equal(t, 801*time.Millisecond, box.calls[0].Remaining)
		require.Equal(t, agent.Deadline, report.Reason)
		require.Len(t, m.requests, 1)
	})
	bubble("gives a tool that hangs a moment more to say what became of the call", func(t *testing.T) {
		report, _ := run(t, tape(asks("look"), says("never asked")), map[string]toolFunc{"look": hangs}, limit)
		require.Equal(t, agent.Deadline, report.Reason)
		require.Equal(t, 900*time.Millisecond, report.Elapsed)
		require.Equal(t, "Error: look gave no answer.", lastResults(t, report)[0].Text)
	})
	bubble("without grace ends the call at the deadline", func(t *testing.T) {
		report, _ := run(t, tape(asks("look")), map[string]toolFunc{"look": hangs}, agent.Config{Deadline: time.Second, Grace: -1})
		require.Equal(t, time.Second, report.Elapsed)
	})
	bubble("keeps the calls that are left in a turn from running", func(t *testing.T) {
		m := tape(asks(`send {"n": 1}`, `send {"n": 2}`))
		report, box := run(t, m, map[string]toolFunc{"send": slow(800 * time.Millisecond)}, limit)
		require.Equal(t, agent.Deadline, report.Reason)
		require.Equal(t, []string{`send {"n": 1}`}, box.texts())
		require.Equal(t, "Error: not run. The run ended before this call.", lastResults(t, report)[1].Text)
	})
	bubble("interrupts a model that thinks too long", func(t *testing.T) {
		m := &model{decide: func(ctx context.Context, _ int, _ agent.Request) (agent.Turn, error) {
			<-ctx.Done()
			return agent.Turn{}, ctx.Err()
		}}
		report, _ := run(t, m, nil, limit)
		require.Equal(t, agent.Deadline, report.Reason, "the model is not to blame")
		require.Equal(t, 800*time.Millisecond, report.Elapsed)
		require.Equal(t, 1, report.Steps)
	})
	bubble("can be turned off", func(t *testing.T) {
		m := tape(asks("look"), says("done"))
		report, box := run(t, m, map[string]toolFunc{"look": slow(time.Hour)}, agent.Config{Deadline: -1})
		require.Equal(t, agent.EndTurn, report.Reason)
		require.Zero(t, box.calls[0].Remaining)
	})
}

func TestToolThatHangsUsesUpWhatLittleIsLeftAndNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slowThenHang := map[string]toolFunc{"look": slow(29200 * time.Millisecond), "look_hang": hangs}
		start := time.Now()
		var answered time.Duration
		report, box := run(t, tape(asks("look"), asks("look_hang"), says("never asked")), slowThenHang, agent.Config{OnEvent: func(e agent.Event) {
			if called, ok := e.(agent.Called); ok && called.Use.Name == "look_hang" {
				answered = time.Since(start) - 29200*time.Millisecond
			}
		}})
		require.Equal(t, 800*time.Millisecond, box.calls[1].Remaining)
		require.LessOrEqual(t, answered, 900*time.Millisecond)
		require.Equal(t, agent.Deadline, report.Reason)
		require.Equal(t, "the run hit its 30s time limit", report.Why)
	})
}

// TestRunDeadlineIsNeverOverrun plays random turns with tools that are quick, slow or hang.
func TestRunDeadlineIsNeverOverrun(t *testing.T) {
	upTo := func(most time.Duration) *rapid.Generator[time.Duration] {
		return rapid.Map(rapid.Int64Range(0, int64(most)), func(n int64) time.Duration { return time.Duration(n) })
	}
	calls := rapid.SliceOfN(rapid.SampledFrom([]string{"look", "look_hang", "send", "send_hang"}), 1, 4)
	rapid.Check(t, func(rt *rapid.T) {
		thinks, works := upTo(900*time.Millisecond).Draw(rt, "thinks"), upTo(900*time.Millisecond).Draw(rt, "works")
		turns := rapid.SliceOfN(calls, 1, 5).Draw(rt, "turns")
		var report agent.Report
		synctest.Test(t, func(t *testing.T) {
			m := &model{decide: func(ctx context.Context, step int, _ agent.Request) (agent.Turn, error) {
				select {
				case <-time.After(max(10*time.Millisecond, thinks)):
					return asks(turns[step%len(turns)]...), nil
				case <-ctx.Done():
					return agent.Turn{}, ctx.Err()
				}
			}}
			tools := map[string]toolFunc{"look": slow(works), "look_hang": hangs, "send": slow(works), "send_hang": hangs}
			report, _ = run(t, m, tools, agent.Config{Deadline: 800 * time.Millisecond, MaxFailures: -1, MaxRepeats: -1, MaxSteps: -1})
		})
		require.Equal(rt, agent.Deadline, report.Reason)
		require.LessOrEqual(rt, report.Elapsed, 900*time.Millisecond)
	})
}
