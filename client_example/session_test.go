package main

import (
	"encoding/json"
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
		change                   string
	}{
		{"a read", "get_ticket", `{"ticket_id": "KITE-142"}`, "", agent.Done, ""},
		{"a reply", "reply_to_customer", `{"ticket_id": "KITE-142", "message": "Hello."}`, "", agent.Done, "a reply was sent: rpl_001"},
		{"the same again", "reply_to_customer", `{"ticket_id": "KITE-142", "message": "Hello."}`, "", agent.Done, "a reply was sent: rpl_001"},
		{"an assignment", "assign_ticket", `{"ticket_id": "KITE-142", "assignee": "priya"}`, "", agent.Done, "KITE-142 was assigned to priya"},
		{"a reply refused", "reply_to_customer", `{"ticket_id": "KITE-142", "message": "Goodbye."}`, "reply_to_customer=status=403", agent.NotDone, "a reply to KITE-142"},
		{"an assignment that may have happened", "assign_ticket", `{"ticket_id": "KITE-142", "assignee": "priya"}`, "assign_ticket=lose", agent.Unknown, "the assignment of KITE-142 to priya"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.fault != "" {
				breakDesk(t, desk, test.fault)
			}
			result, err := s.Call(t.Context(), toolCall(test.tool, test.input))
			require.NoError(t, err)
			require.Equal(t, test.outcome, result.Outcome, result.Text)
			require.Equal(t, test.change, result.Change)
		})
	}
}

func TestCallWithoutAnAnswerNamesTheChange(t *testing.T) {
	s, _ := open(t)
	require.NoError(t, s.client.Close())
	result, err := s.Call(t.Context(), toolCall("reply_to_customer", `{"ticket_id": "KITE-142", "message": "Hello."}`))
	require.ErrorContains(t, err, "call reply_to_customer: ")
	require.Equal(t, "a reply to KITE-142", result.Change)
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
