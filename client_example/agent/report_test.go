package agent_test

import (
	"testing"

	"github.com/kitebase/kitebase-mcp/client_example/agent"
	"github.com/stretchr/testify/require"
)

func TestHandover(t *testing.T) {
	sent := agent.Change{What: "a reply was sent: rpl_001", Confirmed: true}
	assigned := agent.Change{What: "KITE-142 was assigned to priya", Confirmed: true}
	open := agent.Change{What: "a reply to KITE-142"}
	for name, test := range map[string]struct {
		changes []agent.Change
		want    string
	}{
		"nothing": {nil, `I couldn't finish this: the run hit its 0.8s time limit.
Changes made: none, nothing was sent to the customer or changed.
A person needs to pick this up.`},
		"changes": {[]agent.Change{sent, assigned}, `I couldn't finish this: the run hit its 0.8s time limit.
Changes made: a reply was sent: rpl_001; KITE-142 was assigned to priya.
A person needs to pick this up.`},
		"a change that is not confirmed": {[]agent.Change{open}, `I couldn't finish this: the run hit its 0.8s time limit.
Changes made: none that is confirmed.
Not confirmed: a reply to KITE-142. It may have gone through, so check before you repeat it.
A person needs to pick this up.`},
		"both": {[]agent.Change{assigned, open}, `I couldn't finish this: the run hit its 0.8s time limit.
Changes made: KITE-142 was assigned to priya.
Not confirmed: a reply to KITE-142. It may have gone through, so check before you repeat it.
A person needs to pick this up.`},
	} {
		t.Run(name, func(t *testing.T) {
			report := agent.Report{Reason: agent.Deadline, Why: "the run hit its 0.8s time limit", Changes: test.changes}
			require.Equal(t, test.want, report.Handover())
		})
	}
}

func TestChangesComeFromTheTools(t *testing.T) {
	done := agent.Result{Text: "ok", Outcome: agent.Done, Change: "a reply was sent: rpl_001"}
	unknown := agent.Result{Text: "Error: no response", IsError: true, Outcome: agent.Unknown, Change: "a reply"}
	notDone := agent.Result{Text: "Error: refused", IsError: true, Outcome: agent.NotDone, Change: "a reply"}
	silent := agent.Result{Text: "Error: no response", IsError: true}
	sent := agent.Change{Tool: "send", What: "a reply was sent: rpl_001", Confirmed: true}
	open := agent.Change{Tool: "send", What: "a reply"}

	for name, test := range map[string]struct {
		results []agent.Result // of the same call, one a turn
		want    []agent.Change
	}{
		"done":                     {[]agent.Result{done}, []agent.Change{sent}},
		"done and said again":      {[]agent.Result{done, done}, []agent.Change{sent}},
		"not done":                 {[]agent.Result{notDone}, nil},
		"unknown":                  {[]agent.Result{unknown}, []agent.Change{open}},
		"unknown, then found done": {[]agent.Result{unknown, done}, []agent.Change{sent}},
		"a repeat that did nothing settles nothing": {[]agent.Result{unknown, notDone}, []agent.Change{open}},
		"not done, then done":                       {[]agent.Result{notDone, done}, []agent.Change{sent}},
		"unknown again":                             {[]agent.Result{unknown, unknown}, []agent.Change{open}},
		"done, then unknown":                        {[]agent.Result{done, unknown}, []agent.Change{sent, open}},
		"done stays done":                           {[]agent.Result{done, notDone}, []agent.Change{sent}},
		"a failure that says nothing":               {[]agent.Result{silent}, []agent.Change{{Tool: "send", What: "send"}}},
		"a success that says nothing":               {[]agent.Result{ok("ok")}, []agent.Change{{Tool: "send", What: "send", Confirmed: true}}},
	} {
		t.Run(name, func(t *testing.T) {
			var turns []agent.Turn
			results := test.results
			for range results {
				turns = append(turns, asks(`send {"text": "hello"}`))
			}
			m := tape(append(turns, agent.Turn{Text: "I sent five replies.", StopReason: agent.StopEndTurn})...)
			report, _ := run(t, m, map[string]toolFunc{"send": play(results)}, agent.Config{})
			require.Equal(t, test.want, report.Changes)
		})
	}
	t.Run("reads change nothing", func(t *testing.T) {
		report, _ := run(t, tape(asks("look"), says("done")), map[string]toolFunc{"look": answers(silent)}, agent.Config{})
		require.Empty(t, report.Changes)
	})
	t.Run("two calls are two changes", func(t *testing.T) {
		second := done
		second.Change = "a reply was sent: rpl_002"
		m := tape(asks(`send {"text": "hello"}`, `send {"text": "goodbye"}`), says("done"))
		report, _ := run(t, m, map[string]toolFunc{"send": play([]agent.Result{done, second})}, agent.Config{})
		require.Equal(t, []agent.Change{sent, {Tool: "send", What: "a reply was sent: rpl_002", Confirmed: true}}, report.Changes)
	})
	t.Run("a repeat settles its own call alone", func(t *testing.T) {
		second := done
		second.Change = "a reply was sent: rpl_002"
		m := tape(asks(`send {"text": "hello"}`, `send {"text": "goodbye"}`, `send { "text": "goodbye" }`), says("done"))
		report, _ := run(t, m, map[string]toolFunc{"send": play([]agent.Result{unknown, unknown, second})}, agent.Config{})
		require.Equal(t, []agent.Change{open, {Tool: "send", What: "a reply was sent: rpl_002", Confirmed: true}}, report.Changes)
	})
	t.Run("two changes that are not confirmed are two, even by the same name", func(t *testing.T) {
		m := tape(asks(`send {"text": "hello"}`, `send {"text": "goodbye"}`), says("done"))
		report, _ := run(t, m, map[string]toolFunc{"send": answers(unknown)}, agent.Config{})
		require.Equal(t, []agent.Change{open, open}, report.Changes)
	})
}
