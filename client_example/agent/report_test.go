package agent_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

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
		"changes to check": {[]agent.Change{{What: open.What, Check: "read the messages of KITE-142"}, {What: "the assignment of KITE-142 to priya"}}, `I couldn't finish this: the run hit its 0.8s time limit.
Changes made: none that is confirmed.
Not confirmed: a reply to KITE-142. It may have gone through, so check before you repeat it: read the messages of KITE-142.
Not confirmed: the assignment of KITE-142 to priya. It may have gone through, so check before you repeat it.
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

func TestMessageOfASuccess(t *testing.T) {
	sent := agent.Change{What: "a reply was sent: rpl_001", Confirmed: true}
	for name, test := range map[string]struct {
		changes []agent.Change
		want    string
	}{
		"nothing": {nil, "Done.\nChanges made: none, nothing was sent to the customer or changed."},
		"a reply": {[]agent.Change{sent}, "Done.\nChanges made: a reply was sent: rpl_001."},
		"one that is not confirmed": {[]agent.Change{{What: "a reply to KITE-142"}, sent}, "Done.\nChanges made: a reply was sent: rpl_001.\n" +
			"Not confirmed: a reply to KITE-142. It may have gone through, so check before you repeat it."},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.want, agent.Report{Reason: agent.EndTurn, Changes: test.changes}.Message())
		})
	}
}

func TestReportAsJSON(t *testing.T) {
	for name, test := range map[string]struct {
		report agent.Report
		want   string
	}{
		"handed over": {
			agent.Report{
				Reason: agent.UnexpectedStop, StopReason: "moon_phase", Why: `Claude stopped with "moon_phase"`, Text: "Let me see.", Steps: 3,
				Elapsed: 1234567 * time.Microsecond, Err: errors.New("beneath"), Usage: agent.Usage{InputTokens: 900, OutputTokens: 80, CostUSD: 0.5},
				Changes:  []agent.Change{{Tool: "send", What: "a reply", Check: "read it"}, {Tool: "set", What: "it was set", Confirmed: true}},
				Messages: []agent.Message{{Role: agent.User, Text: "left out"}},
			},
			`{"reason":"unexpected_stop","succeeded":false,"message":"I couldn't finish this: Claude stopped with \"moon_phase\".\nChanges made: it was set.\nNot confirmed: a reply. It may have gone through, so check before you repeat it: read it.\nA person needs to pick this up.",` +
				`"text":"Let me see.","stop_reason":"moon_phase","changes":[{"tool":"send","what":"a reply","confirmed":false,"check":"read it"},{"tool":"set","what":"it was set","confirmed":true}],` +
				`"steps":3,"seconds":1.235,"tokens":{"input":900,"output":80},"cost_usd":0.5,"error":"beneath"}`,
		},
		"done": {
			agent.Report{Reason: agent.EndTurn, StopReason: agent.StopEndTurn, Text: "Done it.", Steps: 1},
			`{"reason":"end_turn","succeeded":true,"message":"Done.\nChanges made: none, nothing was sent to the customer or changed.","text":"Done it.","stop_reason":"end_turn",` +
				`"changes":[],"steps":1,"seconds":0,"tokens":{"input":0,"output":0},"cost_usd":0}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := json.Marshal(test.report)
			require.NoError(t, err)
			require.Equal(t, test.want, string(got))
		})
	}
}

func TestChangesComeFromTheTools(t *testing.T) {
	done := agent.Result{Text: "ok", Outcome: agent.Done, Change: "a reply was sent: rpl_001"}
	unknown := agent.Result{Text: "Error: no response", IsError: true, Outcome: agent.Unknown, Change: "a reply"}
	notDone := agent.Result{Text: "Error: refused", IsError: true, Outcome: agent.NotDone, Change: "a reply"}
	silent := agent.Result{Text: "Error: no response", IsError: true}
	found := done
	found.Settles = true
	checked := unknown
	checked.Check = "read it"
	overdone := done
	overdone.Check = "read it"
	sent := agent.Change{Tool: "send", What: "a reply was sent: rpl_001", Confirmed: true}
	open := agent.Change{Tool: "send", What: "a reply"}

	for name, test := range map[string]struct {
		results []agent.Result // of the same call, one a turn
		want    []agent.Change
	}{
		"done":                     {[]agent.Result{done}, []agent.Change{sent}},
		"done, nothing to check":   {[]agent.Result{overdone}, []agent.Change{sent}},
		"done and said again":      {[]agent.Result{done, done}, []agent.Change{sent}},
		"not done":                 {[]agent.Result{notDone}, nil},
		"unknown":                  {[]agent.Result{unknown}, []agent.Change{open}},
		"unknown, then found done": {[]agent.Result{unknown, found}, []agent.Change{sent}},
		"unknown, then done again": {[]agent.Result{unknown, done}, []agent.Change{open, sent}},
		"unknown twice":            {[]agent.Result{unknown, checked}, []agent.Change{{Tool: "send", What: "a reply", Check: "read it"}}},
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
}

func TestChangesOfSeveralCalls(t *testing.T) {
	done := agent.Result{Text: "ok", Outcome: agent.Done, Change: "a reply was sent: rpl_001"}
	unknown := agent.Result{Text: "Error: no response", IsError: true, Outcome: agent.Unknown, Change: "a reply"}
	sent := agent.Change{Tool: "send", What: "a reply was sent: rpl_001", Confirmed: true}
	open := agent.Change{Tool: "send", What: "a reply"}

	t.Run("two calls are two changes", func(t *testing.T) {
		second := done
		second.Change = "a reply was sent: rpl_002"
		m := tape(asks(`send {"text": "hello"}`, `send {"text": "goodbye"}`), says("done"))
		report, _ := run(t, m, map[string]toolFunc{"send": play([]agent.Result{done, second})}, agent.Config{})
		require.Equal(t, []agent.Change{sent, {Tool: "send", What: "a reply was sent: rpl_002", Confirmed: true}}, report.Changes)
	})
	t.Run("a repeat settles its own call alone", func(t *testing.T) {
		second := done
		second.Settles = true
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
