package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/client_example/agent"
	"github.com/kitebase/kitebase-mcp/fakeapi"
)

// open connects to the real server, which works on a help desk of its own.
func open(t *testing.T, flags ...string) (*session, *fakeapi.Server) {
	t.Helper()
	desk, err := fakeapi.Start("127.0.0.1:0", fakeapi.Config{})
	require.NoError(t, err)
	t.Cleanup(desk.Close)
	s, err := connect(t.Context(), server, t.Output(), append([]string{"--url", desk.URL(), "--ledger", "memory"}, flags...)...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s, desk
}

func breakDesk(t *testing.T, desk *fakeapi.Server, spec string) {
	t.Helper()
	operation, fault, err := fakeapi.ParseFault(spec)
	require.NoError(t, err)
	require.NoError(t, desk.SetFault(operation, fault))
}

func toolCall(name, input string) agent.Call {
	return agent.Call{ToolUse: agent.ToolUse{ID: "toolu_01", Name: name, Input: json.RawMessage(input)}}
}

func TestSessionListsTheTools(t *testing.T) {
	s, _ := open(t)
	readOnly := map[string]bool{}
	for _, tool := range s.List() {
		readOnly[tool.Name] = tool.ReadOnly
		require.NotEmpty(t, tool.Description)
		require.Contains(t, string(tool.InputSchema), `"properties"`)
	}
	require.Equal(t, map[string]bool{
		"search_help": true, "get_ticket": true, "search_tickets": true, "assign_ticket": false, "reply_to_customer": false,
	}, readOnly)
}

// TestSessionPassesTheRemainingTimeOn gives the server tries of 20s and a call that has 50ms left: only a server
// that was told so gives up by itself and can say what became of the call.
func TestSessionPassesTheRemainingTimeOn(t *testing.T) {
	s, desk := open(t, "--attempt-timeout", "20s")
	breakDesk(t, desk, "*=hang")
	call := toolCall("reply_to_customer", `{"ticket_id": "KITE-142", "message": "Any update?"}`)
	call.Remaining = 50 * time.Millisecond
	result, err := s.Call(t.Context(), call)
	require.NoError(t, err)
	require.True(t, result.IsError)
	require.Equal(t, agent.Unknown, result.Outcome)
	require.Equal(t, "a reply to KITE-142", result.Change)
	require.Regexp(t, `no response after 0\.\d+s`, result.Text)
}

func TestSessionTellsWhatChanged(t *testing.T) {
	s, desk := open(t)
	for _, test := range []struct {
		name, tool, input, fault string
		outcome                  agent.Outcome
		change, check            string
		settles                  bool
	}{
		{"a read", "get_ticket", `{"ticket_id": "KITE-142"}`, "", agent.Done, "", "", true},
		{"a reply", "reply_to_customer", `{"ticket_id": "KITE-142", "message": "Hello."}`, "", agent.Done, "a reply was sent: rpl_001", "", false},
		{"the same again", "reply_to_customer", `{"ticket_id": "KITE-142", "message": "Hello."}`, "", agent.Done, "a reply was sent: rpl_001", "", true},
		{"an assignment", "assign_ticket", `{"ticket_id": " kite-142", "assignee": "priya"}`, "", agent.Done, "KITE-142 was assigned to priya", "", true},
		{"a reply refused", "reply_to_customer", `{"ticket_id": "KITE-142", "message": "Goodbye."}`, "reply_to_customer=status=403", agent.NotDone, "a reply to KITE-142", "read the messages of KITE-142", false},
		{"an assignment that may have happened", "assign_ticket", `{"ticket_id": "KITE-142", "assignee": "priya"}`, "assign_ticket=lose", agent.Unknown, "the assignment of KITE-142 to priya", "see who KITE-142 is assigned to", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.fault != "" {
				breakDesk(t, desk, test.fault)
			}
			result, err := s.Call(t.Context(), toolCall(test.tool, test.input))
			require.NoError(t, err)
			require.Equal(t, test.outcome, result.Outcome, result.Text)
			require.Equal(t, test.change, result.Change)
			require.Equal(t, test.check, result.Check)
			require.Equal(t, test.settles, result.Settles)
		})
	}
}

func TestCallWithoutAnAnswerNamesTheChange(t *testing.T) {
	s, _ := open(t)
	require.NoError(t, s.client.Close())
	result, err := s.Call(t.Context(), toolCall("reply_to_customer", `{"ticket_id": "KITE-142", "message": "Hello."}`))
	require.ErrorContains(t, err, "call reply_to_customer: ")
	require.Equal(t, "a reply to KITE-142", result.Change)
	require.Equal(t, "read the messages of KITE-142", result.Check)
}

func TestChangeWithGaps(t *testing.T) {
	for name, test := range map[string]struct {
		tool, input, answer    string
		confirmed, unconfirmed string
	}{
		"a reply without an id":         {"reply_to_customer", `{"ticket_id": "KITE-142"}`, "Error: told too late.", "a reply was sent to KITE-142", "a reply to KITE-142"},
		"a reply to nothing":            {"reply_to_customer", `{}`, `{}`, "a reply was sent to an unnamed ticket", "a reply to an unnamed ticket"},
		"an answer that differs":        {"assign_ticket", `{"ticket_id": "KITE-142", "assignee": "priya"}`, `{"id": "KITE-143", "assignee": "lena"}`, "KITE-143 was assigned to lena", "the assignment of KITE-142 to priya"},
		"arguments that are a novel":    {"assign_ticket", `{"ticket_id": "KITE-142\nDone!", "assignee": "` + strings.Repeat("x", 200) + `"}`, `{}`, "KITE-142 Done! was assigned to " + strings.Repeat("x", 90) + "...", "the assignment of KITE-142 Done! to " + strings.Repeat("x", 90) + "..."},
		"a tool that changes something": {"close_ticket", `{}`, `{}`, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			call := toolCall(test.tool, test.input)
			require.Equal(t, test.confirmed, confirmed(call, test.answer))
			what, _ := unconfirmed(call)
			require.Equal(t, test.unconfirmed, what)
		})
	}
}

func TestOutcomeOfOtherServers(t *testing.T) {
	meta := func(value any) *mcp.Meta { return mcp.NewMetaFromMap(map[string]any{"io.kitebase/error": value}) }
	for name, test := range map[string]struct {
		answer mcp.CallToolResult
		want   agent.Outcome
	}{
		"a success":               {mcp.CallToolResult{}, agent.Done},
		"a failure without _meta": {mcp.CallToolResult{IsError: true}, agent.Unknown},
		"an odd _meta":            {mcp.CallToolResult{IsError: true, Result: mcp.Result{Meta: meta("broken")}}, agent.Unknown},
		"no outcome":              {mcp.CallToolResult{IsError: true, Result: mcp.Result{Meta: meta(map[string]any{})}}, agent.Unknown},
		"an outcome":              {mcp.CallToolResult{IsError: true, Result: mcp.Result{Meta: meta(map[string]any{"outcome": "not_done"})}}, agent.NotDone},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, test.want, outcomeOf(&test.answer)) })
	}
}

func TestServerThatDoesNotStartIsQuoted(t *testing.T) {
	_, err := connect(t.Context(), server, t.Output(), "--attempts", "none")
	require.ErrorContains(t, err, "its last words: ")
	require.ErrorContains(t, err, "attempts")
}
