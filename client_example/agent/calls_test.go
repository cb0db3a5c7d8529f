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

func TestCallsOfOneTurn(t *testing.T) {
	second := slow(time.Second)
	tools := map[string]toolFunc{"look": second, "look_up": second, "send": second, "set": second}
	for name, test := range map[string]struct {
		calls   []string
		elapsed time.Duration
	}{
		"reads run in parallel":                      {[]string{"look", "look_up", `look {"n": 3}`}, time.Second},
		"writes run one after the other":             {[]string{"send", "set", `send {"n": 3}`}, 3 * time.Second},
		"a write waits for the reads before it":      {[]string{"look", "look_up", "send"}, 2 * time.Second},
		"a read waits for the write before it":       {[]string{"send", "look", "look_up"}, 2 * time.Second},
		"reads around a write are not run beside it": {[]string{"look", "send", "look_up"}, 3 * time.Second},
		"the same call twice in one turn runs twice": {[]string{"send", "send"}, 2 * time.Second},
		"equal reads too, one after the other":       {[]string{"look", "look_up", `look { }`}, 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				report, box := run(t, tape(asks(test.calls...), says("done")), tools, agent.Config{})
				require.Equal(t, agent.EndTurn, report.Reason)
				require.Equal(t, test.elapsed, report.Elapsed)
				require.Len(t, box.calls, len(test.calls))
			})
		})
	}
}

func TestResultsKeepTheOrderOfTheCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := func(context.Context, agent.Call) (agent.Result, error) {
			time.Sleep(time.Second)
			return ok("slow"), nil
		}
		var events []agent.Event
		report, _ := run(t, tape(asks("look", "look_up"), says("done")), map[string]toolFunc{"look": first, "look_up": answers(ok("fast"))},
			agent.Config{OnEvent: func(e agent.Event) { events = append(events, e) }})
		require.Equal(t, []agent.ToolResult{{ID: "call_1", Text: "slow"}, {ID: "call_2", Text: "fast"}}, lastResults(t, report))
		uses := asks("look", "look_up").Calls
		require.Equal(t, []agent.Event{
			agent.Asking{Step: 1},
			agent.Calling{Step: 1, Use: withInput(uses[0])},
			agent.Calling{Step: 1, Use: withInput(uses[1])},
			agent.Called{Step: 1, Use: withInput(uses[0]), Result: ok("slow")},
			agent.Called{Step: 1, Use: withInput(uses[1]), Result: ok("fast")},
			agent.Asking{Step: 2},
			agent.Said{Step: 2, Text: "done"},
		}, events)
	})
}

func TestEveryCallGetsAResult(t *testing.T) {
	panics := func(context.Context, agent.Call) (agent.Result, error) { panic("secret of the tool") }
	for name, test := range map[string]struct {
		call string
		want string
	}{
		"a read without an answer":  {"look", "Error: look gave no answer."},
		"a write without an answer": {"send", "Error: send gave no answer. The change may have gone through anyway, so check before you repeat it."},
		"a tool that panics":        {"look_panic", "Error: look_panic gave no answer."},
		"an unknown tool":           {"fly", "Error: not run. There is no tool of this name. The tools are: look, look_panic, send, set."},
		"input that is cut":         {`set {"a": `, "Error: set was not run: the input is not a JSON object."},
		"input that is a list":      {`set ["a"]`, "Error: set was not run: the input is not a JSON object."},
		"input that is null":        {`set null`, "Error: set was not run: the input is not a JSON object."},
		"input with a rest":         {`set {} }`, "Error: set was not run: the input is not a JSON object."},
		"input with a second one":   {`set {} {}`, "Error: set was not run: the input is not a JSON object."},
	} {
		t.Run(name, func(t *testing.T) {
			report, box := run(t, tape(asks(test.call, "set"), says("done")), map[string]toolFunc{
				"look": breaks("EOF at 127.0.0.1"), "look_panic": panics, "send": breaks("EOF at 127.0.0.1"), "set": answers(ok("set")),
			}, agent.Config{})
			require.Equal(t, agent.EndTurn, report.Reason)
			require.Equal(t, []agent.ToolResult{
				{ID: "call_1", Text: test.want, IsError: true},
				{ID: "call_2", Text: "set"},
			}, lastResults(t, report))
			require.Equal(t, "set {}", box.texts()[len(box.calls)-1], "the calls after it still run; no input is an empty one")
		})
	}
}

func TestErrorOfACallGoesToPeopleOnly(t *testing.T) {
	var called agent.Called
	run(t, tape(asks("look"), says("done")), map[string]toolFunc{"look": breaks("EOF at 127.0.0.1")}, agent.Config{OnEvent: func(e agent.Event) {
		if e, ok := e.(agent.Called); ok {
			called = e
		}
	}})
	require.EqualError(t, called.Err, "EOF at 127.0.0.1")
	require.NotContains(t, called.Result.Text, "127.0.0.1")
}

// TestConversationIsAlwaysValid runs random turns against tools that answer, fail, break and panic; run checks the rules
// of the wire.
func TestConversationIsAlwaysValid(t *testing.T) {
	tools := map[string]toolFunc{
		"look":   answers(ok("found")),
		"look_2": answers(failed("nothing there")),
		"send":   breaks("EOF"),
		"set":    func(context.Context, agent.Call) (agent.Result, error) { panic("bug") },
	}
	call := rapid.SampledFrom([]string{"look", "look_2", "send", "set", "fly", `look {"n": 1}`, `look {`, `send {"n": 1}`})
	reason := rapid.SampledFrom([]agent.StopReason{"tool_use", "tool_use", "tool_use", "tool_use", "pause_turn", "max_tokens", "end_turn", "refusal"})
	rapid.Check(t, func(t *rapid.T) {
		turns := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) agent.Turn {
			turn := asks(rapid.SliceOfN(call, 0, 4).Draw(t, "calls")...)
			turn.StopReason = reason.Draw(t, "stop reason")
			turn.Text = rapid.SampledFrom([]string{"", "Let me see."}).Draw(t, "text")
			if turn.StopReason == agent.StopPauseTurn {
				turn.Calls = nil
			}
			return turn
		}), 1, 10).Draw(t, "turns")
		report, _ := run(t, tape(turns...), tools, agent.Config{})
		require.NotEmpty(t, report.Reason)
		require.Equal(t, report.Succeeded(), report.Why == "")
		require.LessOrEqual(t, report.Steps, 8)
	})
}

func withInput(use agent.ToolUse) agent.ToolUse {
	use.Input = []byte("{}")
	return use
}
