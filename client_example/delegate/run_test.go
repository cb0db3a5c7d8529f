package delegate_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/client_example/agent"
	"github.com/kitebase/kitebase-mcp/client_example/delegate"
)

var research = ask("research", `{"question": "What fits KITE-142?"}`)

// desk is the tools of the parent; it keeps the names of the calls.
type desk struct {
	mu    sync.Mutex
	calls []string
}

func (*desk) List() []agent.Tool { return help{}.List() }

func (d *desk) Call(_ context.Context, call agent.Call) (agent.Result, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls = append(d.calls, call.Name)
	return agent.Result{Text: "ok", Change: "a reply was sent: rpl_001"}, nil
}

// runParent runs a parent, and checks that each call of it has its result.
func runParent(t *testing.T, d *delegate.Delegate, model agent.Model, cfg agent.Config) (delegate.Report, *desk) {
	t.Helper()
	tools := &desk{}
	report, err := d.Run(t.Context(), agent.Job{Task: "Handle KITE-142.", Model: model, Tools: tools}, cfg, nil)
	require.NoError(t, err)
	for i, message := range report.Messages {
		if len(message.Calls) > 0 {
			require.Len(t, report.Messages[i+1].Results, len(message.Calls))
		}
	}
	return report, tools
}

func TestRunGivesTheModelAnAnswer(t *testing.T) {
	for name, test := range map[string]struct {
		deep delegate.SubLoop
		want string
		note string
	}{
		"from the best path": {works, `{"served_by":"deep","summary":"Reset it under Settings > SSO.","sources":["account-recovery#2"]}`, ""},
		"degraded": {
			uncited, `Degraded: quick answered in place of deep (no source named, 2 tries).
{"served_by":"quick","summary":"Reset it under Settings > SSO.","sources":["account-recovery#2"],"note":"Degraded: quick answered in place of deep (no source named, 2 tries)."}`,
			"Degraded: quick answered in place of deep (no source named, 2 tries).",
		},
	} {
		bubble(t, name, func(t *testing.T) {
			d := newDelegate(t, delegate.Config{}, play(test.deep), play(works))
			report, tools := runParent(t, d, turns(research, ask("reply_to_customer", `{}`), says("Done.")), agent.Config{})
			require.Equal(t, agent.EndTurn, report.Reason)
			require.Equal(t, test.want, report.Messages[2].Results[0].Text)
			require.False(t, report.Messages[2].Results[0].IsError)
			require.Equal(t, test.note, report.Degraded())
			require.Equal(t, strings.TrimSpace("Done.\n"+test.note), report.Text, "it is told, whatever the model tells")
			require.Len(t, report.Answers, 1)
			require.Equal(t, []string{"reply_to_customer"}, tools.calls, "other tools are passed on")
			require.Len(t, report.Changes, 1, "research changes nothing")
		})
	}
}

func TestRunHandsOverWhenAllPathsFail(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		d := newDelegate(t, delegate.Config{}, play(silent), play(uncited))
		asked := 0
		model := modelFunc(func(ctx context.Context, request agent.Request) (agent.Turn, error) {
			asked++
			turn := research
			// A hasty model asks for research and replies in the same turn.
			turn.Calls = append(turn.Calls[:1:1], ask("reply_to_customer", `{"message": "A guess."}`).Calls...)
			return turn, nil
		})
		report, tools := runParent(t, d, model, agent.Config{})
		require.Equal(t, delegate.ResearchFailed, report.Reason)
		require.False(t, report.Succeeded())
		require.Equal(t, 1, asked, "the model has no turn in which to make something up")
		require.Empty(t, tools.calls, "nor does what it asked for beside the research run")
		require.Equal(t, `I couldn't finish this: the research failed on every path: deep (silent for 5s, 2 tries), quick (no source named, 2 tries).
Changes made: none, nothing was sent to the customer or changed.
A person needs to pick this up.`, report.Handover())
		require.Equal(t, "Error: research failed on every path: deep (silent for 5s, 2 tries), quick (no source named, 2 tries). A person needs to pick this up.",
			report.Messages[2].Results[0].Text)
		var exhausted *delegate.Exhausted
		require.ErrorAs(t, report.Err, &exhausted)
	})
}

// TestRunInParallel asks twice in one turn. The task that is cut short because the other one is exhausted is not
// exhausted itself, and does not count.
func TestRunInParallel(t *testing.T) {
	both := research
	both.Calls = append(both.Calls[:1:1], ask("research", `{"question": "And KITE-7?"}`).Calls...)
	bubble(t, "both are answered, and the listeners take turns", func(t *testing.T) {
		d := newDelegate(t, delegate.Config{}, play(talks(works, 0, time.Second)), play(works))
		heard := 0 // no lock: the race detector would see two listeners at once
		count := func() { heard++ }
		report, err := d.Run(t.Context(), agent.Job{Task: "Go.", Model: turns(both, says("Done.")), Tools: &desk{}},
			agent.Config{OnEvent: func(agent.Event) { count() }}, func(delegate.Event) { count() })
		require.NoError(t, err)
		require.Len(t, report.Answers, 2)
		require.GreaterOrEqual(t, heard, 2*3+2*2)
	})
	bubble(t, "both degraded, which is told once", func(t *testing.T) {
		d := newDelegate(t, delegate.Config{}, play(breaks), play(works))
		report, _ := runParent(t, d, turns(both, says("Done.")), agent.Config{})
		require.Len(t, report.Answers, 2)
		require.Equal(t, "Degraded: quick answered in place of deep (it broke off, 1 try).", report.Degraded())
	})
	bubble(t, "one is exhausted", func(t *testing.T) {
		byTask := func(ctx context.Context, order delegate.Order) (delegate.Finding, error) {
			if order.Task == "And KITE-7?" {
				return silent(ctx, order)
			}
			time.Sleep(time.Second)
			return breaks(ctx, order)
		}
		d := newDelegate(t, delegate.Config{Threshold: 2}, play(byTask), play(byTask))
		start := time.Now()
		report, _ := runParent(t, d, turns(both), agent.Config{})
		require.Equal(t, delegate.ResearchFailed, report.Reason)
		require.Equal(t, "the research failed on every path: deep (it broke off, 1 try), quick (it broke off, 1 try)", report.Why)
		require.Equal(t, 2*time.Second, time.Since(start))
		require.Equal(t, "Error: research gave no answer.", report.Messages[2].Results[1].Text)
		_, err := d.Do(t.Context(), "a third", nil)
		require.ErrorContains(t, err, "it broke off, 1 try", "one failure was counted for each path, not two")
	})
}

func TestRunKeepsItsDeadline(t *testing.T) {
	bubble(t, "also in the middle of research", func(t *testing.T) {
		d := newDelegate(t, delegate.Config{}, play(silent), play(works))
		report, _ := runParent(t, d, turns(research), agent.Config{Deadline: 800 * time.Millisecond})
		require.Equal(t, agent.Deadline, report.Reason)
		require.Equal(t, 800*time.Millisecond, report.Elapsed)
		require.Equal(t, "Error: research gave no answer.", report.Messages[2].Results[0].Text)
	})
	bubble(t, "and its caller's wish to stop", func(t *testing.T) {
		d := newDelegate(t, delegate.Config{}, play(silent), play(works))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		report, err := d.Run(ctx, agent.Job{Task: "Go.", Model: turns(research), Tools: &desk{}}, agent.Config{}, nil)
		require.NoError(t, err)
		require.Equal(t, agent.Canceled, report.Reason)
		require.Equal(t, time.Second, report.Elapsed)
	})
}

func TestResearchNeedsAQuestion(t *testing.T) {
	for name, input := range map[string]string{
		"none": `{}`, "blank": `{"question": " "}`, "a number": `{"question": 7}`, "null": `{"question": null}`,
	} {
		t.Run(name, func(t *testing.T) {
			deep := play(works)
			d := newDelegate(t, delegate.Config{}, deep, play(works))
			report, _ := runParent(t, d, turns(ask("research", input), says("I could not.")), agent.Config{})
			require.Equal(t, "Error: research was not run: it needs a question, as text.", report.Messages[2].Results[0].Text)
			require.Equal(t, agent.EndTurn, report.Reason, "the model can mend that")
			require.Zero(t, deep.runs.Load())
		})
	}
}

func TestResearchIsListed(t *testing.T) {
	var listed []agent.Tool
	model := modelFunc(func(_ context.Context, request agent.Request) (agent.Turn, error) {
		listed = request.Tools
		return says("Done."), nil
	})
	runParent(t, newDelegate(t, delegate.Config{}, play(works), play(works)), model, agent.Config{})
	require.Len(t, listed, 4)
	tool := listed[3]
	require.Equal(t, "research", tool.Name)
	require.True(t, tool.ReadOnly)
	require.NotEmpty(t, tool.Description)
	require.True(t, json.Valid(tool.InputSchema))
}

func TestRunOfAJobThatCannotBeUsed(t *testing.T) {
	d := newDelegate(t, delegate.Config{}, play(works), play(works))
	_, err := d.Run(t.Context(), agent.Job{Task: "Go.", Model: turns(research)}, agent.Config{}, nil)
	require.ErrorContains(t, err, "a job needs a task, a model and tools")
}
