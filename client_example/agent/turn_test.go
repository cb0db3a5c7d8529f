package agent_test

import (
	"testing"

	"github.com/kitebase/kitebase-mcp/client_example/agent"
	"github.com/stretchr/testify/require"
)

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
		"the context is full":                 {stops("model_context_window_exceeded"), agent.ContextWindow, "the conversation no longer fits into what Claude can read (model_context_window_exceeded)"},
		"the context is full amid a call":     {agent.Turn{Calls: open.Calls, StopReason: agent.StopContextWindow}, agent.ContextWindow, "the conversation no longer fits into what Claude can read (model_context_window_exceeded)"},
		"a pause with a call open":            {agent.Turn{Calls: open.Calls, StopReason: agent.StopPauseTurn}, agent.BadTurn, "Claude's reply contradicts itself"},
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
			require.Equal(t, test.turn.StopReason, report.StopReason, "named raw")
			require.Equal(t, test.why == "", report.Succeeded())
			require.Equal(t, test.reason == agent.BadTurn, report.Err != nil)
			require.Equal(t, 1, report.Steps)
			require.Len(t, m.requests, 1, "no second try")
			require.Empty(t, box.calls, "nothing may run")
		})
	}
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

func TestPausedTurn(t *testing.T) {
	paused := func(text string) agent.Turn { return agent.Turn{Text: text, StopReason: agent.StopPauseTurn} }

	t.Run("goes on where it was", func(t *testing.T) {
		m := tape(paused("I am"), paused(" still"), says(" here."))
		var events []agent.Event
		report, _ := run(t, m, nil, agent.Config{OnEvent: func(e agent.Event) { events = append(events, e) }})
		require.Equal(t, agent.EndTurn, report.Reason)
		require.Equal(t, 3, report.Steps, "a paused turn is a step")
		require.Contains(t, events, agent.Pause{Step: 2})
		require.Equal(t, []agent.Message{
			{Role: agent.User, Text: "Handle KITE-142."},
			{Role: agent.Assistant, Text: "I am"},
			{Role: agent.Assistant, Text: " still"},
		}, m.requests[2].Messages)
	})
	t.Run("is given up after three continuations", func(t *testing.T) {
		m := tape(paused("…"))
		report, _ := run(t, m, nil, agent.Config{})
		require.Equal(t, agent.Paused, report.Reason)
		require.Equal(t, "Claude paused its turn 4 times in a row (pause_turn)", report.Why)
		require.Len(t, m.requests, 4)
	})
	t.Run("counts anew after calls", func(t *testing.T) {
		m := tape(paused("a"), asks("look"), paused("b"), says("done"))
		report, _ := run(t, m, map[string]toolFunc{"look": answers(ok("found"))}, agent.Config{MaxPauses: 1})
		require.Equal(t, agent.EndTurn, report.Reason)
	})
	t.Run("is bounded by the step limit without a limit of its own", func(t *testing.T) {
		report, _ := run(t, tape(paused("…")), nil, agent.Config{MaxPauses: -1})
		require.Equal(t, agent.MaxSteps, report.Reason)
	})
}

func rooms(m *model) []int {
	var rooms []int
	for _, request := range m.requests {
		rooms = append(rooms, request.MaxTokens)
	}
	return rooms
}
