package agent_test

import (
	"context"
	"strings"
	"testing"

	"github.com/kitebase/kitebase-mcp/client_example/agent"
	"github.com/stretchr/testify/require"
)

const blockedText = "Error: not run. This exact call already failed 2 times. Don't repeat it: change the input, use another tool, or stop and explain."

func TestRepeatGuard(t *testing.T) {
	missing := map[string]toolFunc{"look": answers(failed("No ticket KITE-412.")), "look_2": answers(failed("nothing")), "look_3": answers(ok("found"))}
	same := `look {"ticket_id": "KITE-412"}`

	t.Run("does not run a call the third time and ends the run at the fourth", func(t *testing.T) {
		report, box := run(t, tape(asks(same)), missing, agent.Config{})
		require.Equal(t, agent.Stuck, report.Reason)
		require.Equal(t, "Claude kept repeating look although it had failed 2 times", report.Why)
		require.Equal(t, 4, report.Steps)
		require.Len(t, box.calls, 2)
		require.Equal(t, blockedText, report.Messages[6].Results[0].Text)
		require.Equal(t, blockedText, lastResults(t, report)[0].Text)
	})
	t.Run("ends the run at the second blocked call, whichever it is", func(t *testing.T) {
		report, box := run(t, tape(asks(same, "look_2"), asks(same, "look_2"), asks(same), asks("look_3"), asks("look_2"), says("never asked")), missing, agent.Config{})
		require.Equal(t, agent.Stuck, report.Reason)
		require.Equal(t, "Claude kept repeating look_2 although it had failed 2 times", report.Why)
		require.Equal(t, 5, report.Steps)
		require.Len(t, box.calls, 5)
	})
	t.Run("lets the model take another way after one blocked call", func(t *testing.T) {
		report, _ := run(t, tape(asks(same), asks(same), asks(same), asks("look_3"), says("done")), missing, agent.Config{})
		require.Equal(t, agent.EndTurn, report.Reason)
	})
	t.Run("forgets failures once the call worked", func(t *testing.T) {
		n := 0
		flaky := func(context.Context, agent.Call) (agent.Result, error) {
			if n++; n == 2 {
				return ok("found"), nil
			}
			return failed("later"), nil
		}
		report, box := run(t, tape(asks("look"), asks("look"), asks("look"), asks("look"), says("done")), map[string]toolFunc{"look": flaky}, agent.Config{})
		require.Equal(t, agent.EndTurn, report.Reason)
		require.Len(t, box.calls, 4)
	})
	t.Run("counts a tool that does not exist", func(t *testing.T) {
		report, _ := run(t, tape(asks("fly")), missing, agent.Config{})
		require.Equal(t, agent.Stuck, report.Reason)
	})
	t.Run("counts input that cannot be used", func(t *testing.T) {
		report, _ := run(t, tape(asks("look {")), missing, agent.Config{})
		require.Equal(t, agent.Stuck, report.Reason)
	})
	t.Run("takes another limit", func(t *testing.T) {
		report, box := run(t, tape(asks(same)), missing, agent.Config{MaxFailures: 1})
		require.Equal(t, 3, report.Steps)
		require.Len(t, box.calls, 1)
		require.Contains(t, lastResults(t, report)[0].Text, "already failed 1 time.")
	})
	t.Run("can be turned off", func(t *testing.T) {
		report, box := run(t, tape(asks(same)), missing, agent.Config{MaxFailures: -1})
		require.Equal(t, agent.MaxSteps, report.Reason)
		require.Len(t, box.calls, 8)
	})
}

func TestRepeatGuardWithinATurn(t *testing.T) {
	missing := map[string]toolFunc{"look": answers(failed("No ticket KITE-412.")), "look_3": answers(ok("found"))}
	same := `look {"ticket_id": "KITE-412"}`

	t.Run("sees calls of one turn end one by one", func(t *testing.T) {
		report, box := run(t, tape(asks(same, "look_3", same, same, same, "look_3")), missing, agent.Config{})
		require.Equal(t, agent.Stuck, report.Reason)
		require.Equal(t, 1, report.Steps)
		require.Len(t, box.calls, 3)
		results := lastResults(t, report)
		require.Equal(t, blockedText, results[3].Text)
		require.Equal(t, blockedText, results[4].Text)
		require.Equal(t, "Error: not run. The run ended before this call.", results[5].Text)
	})
	t.Run("runs nothing of a turn after the call that ended the run", func(t *testing.T) {
		report, box := run(t, tape(asks(same), asks(same), asks(same), asks(same, "look_3")), missing, agent.Config{})
		require.Equal(t, agent.Stuck, report.Reason)
		require.Len(t, box.calls, 2)
		require.Equal(t, "Error: not run. The run ended before this call.", lastResults(t, report)[1].Text)
	})
}

func TestRepeatGuardKnowsACallByItsMeaning(t *testing.T) {
	for name, test := range map[string]struct {
		first, second string
		same          bool
	}{
		"order of members":        {`{"a": 1, "b": 2}`, `{"b": 2, "a": 1}`, true},
		"order deep inside":       {`{"x": [{"a": 1, "b": 2}]}`, `{"x": [{"b": 2, "a": 1}]}`, true},
		"spacing":                 {`{"a":1}`, "{ \"a\" :\t1\n}", true},
		"escapes":                 {`{"a": "KITE"}`, `{"a": "\u004bITE"}`, true},
		"no input":                {``, `{}`, true},
		"fraction of zero":        {`{"a": 1}`, `{"a": 1.0}`, true},
		"exponent":                {`{"a": 1500}`, `{"a": 1.5e3}`, true},
		"exponent of a fraction":  {`{"a": 0.015}`, `{"a": 15E-3}`, true},
		"zeros":                   {`{"a": 0}`, `{"a": -0.00e7}`, true},
		"text":                    {`{"a": "x"}`, `{"a": "y"}`, false},
		"case":                    {`{"a": "x"}`, `{"a": "X"}`, false},
		"text and number":         {`{"a": "1"}`, `{"a": 1}`, false},
		"sign":                    {`{"a": 1}`, `{"a": -1}`, false},
		"size":                    {`{"a": 1}`, `{"a": 10}`, false},
		"order of a list":         {`{"a": [1, 2]}`, `{"a": [2, 1]}`, false},
		"null and absent":         {`{"a": null}`, `{}`, false},
		"large ids":               {`{"a": 9007199254740992}`, `{"a": 9007199254740993}`, false},
		"an exponent beyond int":  {`{"a": 1e99999999999999999999}`, `{"a": 1e99999999999999999998}`, false},
		"an exponent that's huge": {`{"a": 1e999999999}`, `{"a": 10e999999998}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			m := tape(asks("look "+test.first), asks("look "+test.second), asks("look "+test.first), says("done"))
			report, box := run(t, m, map[string]toolFunc{"look": answers(failed("no"))}, agent.Config{})
			require.Equal(t, agent.EndTurn, report.Reason)
			want := 3
			if test.same {
				want = 2
			}
			require.Len(t, box.calls, want)
		})
	}
}

func TestProgressGuard(t *testing.T) {
	tools := map[string]toolFunc{"look": answers(ok("open")), "look_2": answers(ok("open"))}
	nudge := "The same call brought the same answer 5 times in a row. Use what you have, try something else, or stop and explain."

	t.Run("nudges at the fifth equal answer and ends the run at the sixth call", func(t *testing.T) {
		m := tape(asks("look"))
		report, box := run(t, m, tools, agent.Config{})
		require.Equal(t, agent.NoProgress, report.Reason)
		require.Equal(t, "Claude kept repeating look although it brought the same answer 5 times in a row", report.Why)
		require.Equal(t, 6, report.Steps)
		require.Len(t, box.calls, 5)
		require.Empty(t, m.requests[4].Messages[8].Text)
		require.Equal(t, nudge, m.requests[5].Messages[10].Text)
		require.Equal(t, "Error: not run. This exact call already brought the same answer 5 times in a row.", lastResults(t, report)[0].Text)
	})
	t.Run("lets a model go on that does something else", func(t *testing.T) {
		report, _ := run(t, tape(asks("look"), asks("look"), asks("look"), asks("look"), asks("look"), asks("look_2"), says("done")), tools, agent.Config{})
		require.Equal(t, agent.EndTurn, report.Reason)
		require.Equal(t, 7, report.Steps)
	})
	t.Run("does not mind answers that change", func(t *testing.T) {
		n := 0
		polled := func(context.Context, agent.Call) (agent.Result, error) { n++; return ok(strings.Repeat("x", n)), nil }
		report, box := run(t, tape(asks("look")), map[string]toolFunc{"look": polled}, agent.Config{})
		require.Equal(t, agent.MaxSteps, report.Reason)
		require.Len(t, box.calls, 8)
	})
	t.Run("starts over after a failure", func(t *testing.T) {
		n := 0
		interrupted := func(context.Context, agent.Call) (agent.Result, error) {
			if n++; n == 4 {
				return failed("later"), nil
			}
			return ok("open"), nil
		}
		report, box := run(t, tape(asks("look")), map[string]toolFunc{"look": interrupted}, agent.Config{})
		require.Equal(t, agent.MaxSteps, report.Reason)
		require.Len(t, box.calls, 8)
	})
	t.Run("does not mind equal answers to two calls in turn", func(t *testing.T) {
		report, box := run(t, tape(asks("look", "look_2")), tools, agent.Config{})
		require.Equal(t, agent.MaxSteps, report.Reason)
		require.Len(t, box.calls, 16)
	})
	t.Run("can be turned off", func(t *testing.T) {
		report, _ := run(t, tape(asks("look")), tools, agent.Config{MaxRepeats: -1})
		require.Equal(t, agent.MaxSteps, report.Reason)
	})
}
