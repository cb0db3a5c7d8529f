package agent_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/kitebase/kitebase-mcp/client_example/agent"
	"github.com/stretchr/testify/require"
)

func TestRunHandsResultsBackUntilTheModelEnds(t *testing.T) {
	m := tape(asks(`look {"id": 1}`), asks(`send {"id": 1}`), says("All done."))
	report, box := run(t, m, map[string]toolFunc{
		"look": answers(ok("found")),
		"send": answers(agent.Result{Text: "sent", Change: "a reply was sent: rpl_001"}),
	}, agent.Config{})

	require.True(t, report.Succeeded())
	require.Equal(t, agent.EndTurn, report.Reason)
	require.Empty(t, report.Why)
	require.Equal(t, 3, report.Steps)
	require.Equal(t, "All done.", report.Text)
	require.Equal(t, []agent.Change{{Tool: "send", What: "a reply was sent: rpl_001", Confirmed: true}}, report.Changes)
	require.Equal(t, []string{`look {"id": 1}`, `send {"id": 1}`}, box.texts())

	require.Len(t, m.requests, 3)
	require.Equal(t, []agent.Message{{Role: agent.User, Text: "Handle KITE-142."}}, m.requests[0].Messages)
	require.Equal(t, []agent.ToolResult{{ID: "call_1", Text: "found"}}, m.requests[1].Messages[2].Results)
	require.Len(t, m.requests[0].Tools, 2)
	require.Equal(t, 1024, m.requests[0].MaxTokens)
}

func TestStopReasons(t *testing.T) {
	twice := asks("look", "look")
	twice.Calls[1].ID = twice.Calls[0].ID
	nameless := asks("look")
	nameless.Calls[0].ID = ""
	open := asks("look")
	open.StopReason = agent.StopEndTurn

	for name, test := range map[string]struct {
		turn   agent.Turn
		reason agent.Reason
		why    string
	}{
		"end_turn":                            {stops("end_turn"), agent.EndTurn, ""},
		"stop_sequence":                       {stops("stop_sequence"), agent.EndSequence, ""},
		"refusal":                             {stops("refusal"), agent.Refusal, "Claude declined to continue"},
		"pause_turn":                          {stops("pause_turn"), agent.UnexpectedStop, `Claude stopped with "pause_turn"`},
		"the context is full":                 {stops("model_context_window_exceeded"), agent.UnexpectedStop, `Claude stopped with "model_context_window_exceeded"`},
		"one not yet invented":                {stops("moon_phase"), agent.UnexpectedStop, `Claude stopped with "moon_phase"`},
		"none":                                {stops(""), agent.UnexpectedStop, `Claude stopped with ""`},
		"tool_use without a call":             {stops("tool_use"), agent.BadTurn, "Claude's reply contradicts itself"},
		"end_turn with a call open":           {open, agent.BadTurn, "Claude's reply contradicts itself"},
		"two calls of one id":                 {twice, agent.BadTurn, "Claude's reply contradicts itself"},
		"a call without an id":                {nameless, agent.BadTurn, "Claude's reply contradicts itself"},
		"a refusal beside calls that are cut": {agent.Turn{Calls: open.Calls, StopReason: agent.StopRefusal}, agent.Refusal, "Claude declined to continue"},
	} {
		t.Run(name, func(t *testing.T) {
			m := tape(test.turn)
			report, box := run(t, m, map[string]toolFunc{"look": answers(ok("found"))}, agent.Config{})
			require.Equal(t, test.reason, report.Reason)
			require.Equal(t, test.why, report.Why)
			require.Equal(t, test.why == "", report.Succeeded())
			require.Equal(t, test.reason == agent.BadTurn, report.Err != nil)
			require.Equal(t, 1, report.Steps)
			require.Len(t, m.requests, 1, "no second try")
			require.Empty(t, box.calls, "nothing may run")
		})
	}
}

func TestStepLimit(t *testing.T) {
	t.Run("ends a model that never finishes", func(t *testing.T) {
		report, box := run(t, pages(20), map[string]toolFunc{"look": answers(ok("found"))}, agent.Config{})
		require.Equal(t, agent.MaxSteps, report.Reason)
		require.Equal(t, "the run hit its 8-step limit", report.Why)
		require.Equal(t, 8, report.Steps)
		require.Len(t, box.calls, 8)
	})
	t.Run("can be turned off", func(t *testing.T) {
		report, _ := run(t, pages(20), map[string]toolFunc{"look": answers(ok("found"))}, agent.Config{MaxSteps: -1})
		require.Equal(t, agent.EndTurn, report.Reason)
		require.Equal(t, 21, report.Steps)
	})
}

func TestCutOffTurn(t *testing.T) {
	// In the field a turn that was cut off held a complete call beside a half one; running the complete one did half of
	// what the model wanted.
	half := asks(`send {"text": "complete"}`, `send {"text": "ha`)
	half.StopReason = agent.StopMaxTokens

	t.Run("is redone once with twice the room and nothing of it runs", func(t *testing.T) {
		m := tape(asks("look"), half, asks(`send {"text": "whole"}`), says("sent"))
		var events []agent.Event
		report, box := run(t, m, map[string]toolFunc{"look": answers(ok("found")), "send": answers(ok("sent"))},
			agent.Config{OnEvent: func(e agent.Event) { events = append(events, e) }})
		require.Equal(t, agent.EndTurn, report.Reason)
		require.Equal(t, 4, report.Steps, "a turn that was cut off is a step")
		require.Equal(t, []string{"look {}", `send {"text": "whole"}`}, box.texts())
		require.Contains(t, events, agent.CutOff{Step: 2, MaxTokens: 1024, Next: 2048})
		require.Equal(t, []int{1024, 1024, 2048, 1024}, rooms(m), "the next turn has the usual room again")
		require.Equal(t, m.requests[1].Messages, m.requests[2].Messages, "nothing of the turn is kept")
	})
	t.Run("is given up the second time", func(t *testing.T) {
		m := tape(half)
		report, box := run(t, m, map[string]toolFunc{"send": answers(ok("sent"))}, agent.Config{})
		require.Equal(t, agent.CutOffTwice, report.Reason)
		require.Equal(t, "Claude's reply was cut off twice, even at max_tokens=2048", report.Why)
		require.Equal(t, []int{1024, 2048}, rooms(m))
		require.Empty(t, box.calls)
	})
	t.Run("may be text alone", func(t *testing.T) {
		m := tape(agent.Turn{Text: "I was about to", StopReason: agent.StopMaxTokens}, says("Done."))
		report, _ := run(t, m, nil, agent.Config{MaxTokens: 100})
		require.Equal(t, agent.EndTurn, report.Reason)
		require.Equal(t, "Done.", report.Text)
		require.Equal(t, []int{100, 200}, rooms(m))
		require.Len(t, report.Messages, 2)
	})
}

func TestModelUnavailable(t *testing.T) {
	down := errors.New("529 overloaded")
	m := &model{decide: func(context.Context, int, agent.Request) (agent.Turn, error) { return agent.Turn{}, down }}
	report, _ := run(t, m, nil, agent.Config{})
	require.Equal(t, agent.ModelUnavailable, report.Reason)
	require.Equal(t, "Claude could not be reached", report.Why)
	require.ErrorIs(t, report.Err, down)
	require.Equal(t, 1, report.Steps)
	require.NotContains(t, report.Handover(), "529")
}

func TestCanceled(t *testing.T) {
	t.Run("while the model thinks", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		m := &model{decide: func(ctx context.Context, _ int, _ agent.Request) (agent.Turn, error) {
			cancel()
			<-ctx.Done()
			return agent.Turn{}, ctx.Err()
		}}
		report, err := agent.Run(ctx, agent.Job{Task: "t", Model: m, Tools: &toolbox{}}, agent.Config{})
		require.NoError(t, err)
		require.Equal(t, agent.Canceled, report.Reason)
		require.Equal(t, "the run was interrupted", report.Why)
	})
	t.Run("while a call runs, the calls after it do not start", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		box := &toolbox{run: map[string]toolFunc{"send": func(ctx context.Context, _ agent.Call) (agent.Result, error) {
			cancel()
			<-ctx.Done()
			return agent.Result{Change: "a reply to KITE-142"}, ctx.Err()
		}}}
		m := tape(asks(`send {"n": 1}`, `send {"n": 2}`), says("never asked"))
		report, err := agent.Run(ctx, agent.Job{Task: "t", Model: m, Tools: box}, agent.Config{})
		require.NoError(t, err)
		requirePaired(t, report.Messages)
		require.Equal(t, agent.Canceled, report.Reason)
		require.Len(t, box.calls, 1)
		require.Len(t, m.requests, 1)
		require.Equal(t, "Error: not run. The run ended before this call.", lastResults(t, report)[1].Text)
		require.Equal(t, []agent.Change{{Tool: "send", What: "a reply to KITE-142"}}, report.Changes)
	})
}

func TestRunRefusesWhatItCannotUse(t *testing.T) {
	whole := agent.Job{Task: "t", Model: tape(says("")), Tools: &toolbox{}}
	for name, test := range map[string]struct {
		job  agent.Job
		cfg  agent.Config
		want string
	}{
		"no task":            {agent.Job{Model: whole.Model, Tools: whole.Tools}, agent.Config{}, "a job needs a task, a model and tools"},
		"no model":           {agent.Job{Task: "t", Tools: whole.Tools}, agent.Config{}, "a job needs a task, a model and tools"},
		"no tools":           {agent.Job{Task: "t", Model: whole.Model}, agent.Config{}, "a job needs a task, a model and tools"},
		"negative steps":     {whole, agent.Config{MaxSteps: -2}, "MaxSteps is -2"},
		"negative deadline":  {whole, agent.Config{Deadline: -5}, "Deadline is -5"},
		"negative grace":     {whole, agent.Config{Grace: -5}, "Grace is -5"},
		"negative failures":  {whole, agent.Config{MaxFailures: -2}, "MaxFailures is -2"},
		"negative repeats":   {whole, agent.Config{MaxRepeats: -2}, "MaxRepeats is -2"},
		"no room":            {whole, agent.Config{MaxTokens: -1}, "MaxTokens is -1"},
		"twice is too much":  {whole, agent.Config{MaxTokens: 10_501}, "MaxTokens is 10501, but takes 0 to 10500"},
		"everything at once": {whole, agent.Config{MaxSteps: -3, MaxTokens: -1}, "MaxTokens is -1"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := agent.Run(context.Background(), test.job, test.cfg)
			require.ErrorContains(t, err, test.want)
		})
	}
}

// pages is a model that reads one page after the other, n in all.
func pages(n int) *model {
	return &model{decide: func(_ context.Context, step int, _ agent.Request) (agent.Turn, error) {
		if step == n {
			return says("read"), nil
		}
		return asks(fmt.Sprintf(`look {"page": %d}`, step)), nil
	}}
}

func rooms(m *model) []int {
	var rooms []int
	for _, request := range m.requests {
		rooms = append(rooms, request.MaxTokens)
	}
	return rooms
}
