package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/client_example/agent"
)

func TestTranscript(t *testing.T) {
	use := agent.ToolUse{Name: "get_ticket", Input: json.RawMessage(`{"ticket_id":"KITE-142"}`)}
	long := `{"id":"KITE-142","title":"Customer locked out after SSO change","status":"in_progress","priority":"high"}`
	for name, test := range map[string]struct {
		event agent.Event
		want  string
	}{
		"text":          {agent.Said{Step: 4, Text: "Done.\nReally."}, "[4] Done. Really.\n"},
		"call":          {agent.Calling{Step: 1, Use: use}, `[1] get_ticket {"ticket_id": "KITE-142"}` + "\n"},
		"short result":  {agent.Called{Result: agent.Result{Text: `{"id":"KITE-142"}`}}, `    -> {"id": "KITE-142"}` + "\n"},
		"long result":   {agent.Called{Result: agent.Result{Text: long}}, `    -> {"id": "KITE-142", "title": "Customer locked out after SSO change", ...` + "\n"},
		"note and JSON": {agent.Called{Result: agent.Result{Text: "Sent before.\n" + `{"reply_id":"rpl_001"}`}}, `    -> Sent before. {"reply_id": "rpl_001"}` + "\n"},
		"no comma":      {agent.Called{Result: agent.Result{Text: strings.Repeat("ä", 94)}}, "    -> " + strings.Repeat("ä", 90) + "...\n"},
		"just fits":     {agent.Called{Result: agent.Result{Text: strings.Repeat("ä", 93)}}, "    -> " + strings.Repeat("ä", 93) + "\n"},
		"early comma":   {agent.Called{Result: agent.Result{Text: "a, " + strings.Repeat("b", 100)}}, "    -> a, " + strings.Repeat("b", 87) + "...\n"},
		"error":         {agent.Called{Result: agent.Result{Text: "Error: " + strings.Repeat("x", 100), IsError: true}}, "    -> is_error: Error: " + strings.Repeat("x", 100) + "\n"},
		"cut off":       {agent.CutOff{Step: 2, MaxTokens: 1024, Next: 2048}, "[2] cut off at max_tokens=1024. Redoing the turn with 2048.\n"},
		"pause":         {agent.Pause{Step: 2}, "[2] paused. Going on with the turn.\n"},
		"thinking":      {agent.Asking{Step: 2}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			(&transcript{screen: &screen{out: &out}}).write(test.event)
			require.Equal(t, test.want, out.String())
		})
	}
}

func FuzzSpaced(f *testing.F) {
	for _, seed := range []string{`{"a":1,"b":[2,3]}`, `{"a,b:":"c\":,\\"}`, `{ "a" : 1 }`, `plain: text, no JSON`, `"\\"`, "\"\xff\"", `1e999`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := spaced(text)
		if !json.Valid([]byte(text)) {
			require.Equal(t, text, got)
			return
		}
		require.Equal(t, compact(text), compact(got), "only the spaces may change")
		require.Equal(t, got, spaced(got))
	})
}

func compact(text string) string {
	var out bytes.Buffer
	_ = json.Compact(&out, []byte(text)) // is valid
	return out.String()
}

func TestTable(t *testing.T) {
	happy, _ := findScenario("happy")
	loop := scenario{name: "a-long-name"}
	require.Equal(t, ""+
		"scenario     ending           steps  emails  seconds\n"+
		"happy        DONE (end_turn)  4      1       0.1\n"+
		"a-long-name  FAILED (stuck)   12     0       31.0\n",
		table([]outcome{
			{scenario: happy, report: agent.Report{Reason: agent.EndTurn, Steps: 4}, emails: 1, took: 90 * time.Millisecond},
			{scenario: loop, report: agent.Report{Reason: agent.Stuck, Steps: 12}, took: 31 * time.Second},
		}))
}
