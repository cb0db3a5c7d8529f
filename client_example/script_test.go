package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/client_example/agent"
)

func TestScriptReactsToResults(t *testing.T) {
	getTicket := `get_ticket {"ticket_id":"KITE-142"}`
	searchHelp := `search_help {"query":"locked out after SSO change"}`
	for name, test := range map[string]struct {
		called string
		result agent.ToolResult
		want   string
	}{
		"a ticket":           {"get_ticket", agent.ToolResult{Text: `{"id":"KITE-142"}`}, searchHelp},
		"no ticket":          {"get_ticket", agent.ToolResult{Text: "Error: no response", IsError: true}, `search_tickets {"query":"locked out after SSO change"}`},
		"the ticket found":   {"search_tickets", agent.ToolResult{Text: "Shortened.\n" + `{"tickets":[{"id":"KITE-7"},{"id":"KITE-142"}]}`}, searchHelp},
		"others found":       {"search_tickets", agent.ToolResult{Text: `{"tickets":[{"id":"KITE-7"}]}`}, "I could not read ticket KITE-142, so I did not reply to the customer."},
		"nothing works":      {"search_tickets", agent.ToolResult{Text: "Error: no response", IsError: true}, "I could not read ticket KITE-142, so I did not reply to the customer."},
		"an article":         {"search_help", agent.ToolResult{Text: `{"articles":[{"title":"Reset \"SSO\""}]}`}, `reply_to_customer {"ticket_id":"KITE-142","message":"Sorry that you are locked out. The article \"Reset \\\"SSO\\\"\" in our help center says how to get back in."}`},
		"no article":         {"search_help", agent.ToolResult{Text: `{"articles":[]}`}, `reply_to_customer {"ticket_id":"KITE-142","message":"We are looking into why you are locked out and will write again today."}`},
		"no help":            {"search_help", agent.ToolResult{Text: "Error: no response", IsError: true}, `reply_to_customer {"ticket_id":"KITE-142","message":"We are looking into why you are locked out and will write again today."}`},
		"a reply":            {"reply_to_customer", agent.ToolResult{Text: `{"reply_id":"rpl_001"}`}, "I answered KITE-142 with reply rpl_001."},
		"a reply that fails": {"reply_to_customer", agent.ToolResult{Text: "Error: refused.", IsError: true}, "The reply to KITE-142 failed. Error: refused."},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.want, next(t, []agent.Message{
				{Role: agent.User, Text: task},
				{Role: agent.Assistant, Calls: []agent.ToolUse{{ID: "toolu_01", Name: test.called}}},
				{Role: agent.User, Results: []agent.ToolResult{test.result}},
			}))
		})
	}
	t.Run("a reply that may have gone through is repeated once", func(t *testing.T) {
		reply := agent.ToolUse{ID: "toolu_01", Name: "reply_to_customer", Input: json.RawMessage(`{"message":"Hello."}`)}
		lost := agent.ToolResult{Text: "Error: no response. The change may have gone through anyway, so check before you repeat it.", IsError: true}
		messages := []agent.Message{
			{Role: agent.User, Text: task},
			{Role: agent.Assistant, Calls: []agent.ToolUse{reply}},
			{Role: agent.User, Results: []agent.ToolResult{lost}},
		}
		require.Equal(t, `reply_to_customer {"message":"Hello."}`, next(t, messages))
		again := append(messages, messages[1:]...)
		require.Equal(t, "The reply to KITE-142 failed. "+lost.Text, next(t, again))
	})
	t.Run("the task", func(t *testing.T) {
		require.Equal(t, getTicket, next(t, []agent.Message{{Role: agent.User, Text: task}}))
	})
}

// next returns the call of the script's next turn, or its text.
func next(t *testing.T, messages []agent.Message) string {
	t.Helper()
	turn, err := script{}.Next(t.Context(), agent.Request{Messages: messages})
	require.NoError(t, err)
	if len(turn.Calls) == 0 {
		require.Equal(t, agent.StopEndTurn, turn.StopReason)
		return turn.Text
	}
	require.Equal(t, agent.StopToolUse, turn.StopReason)
	require.True(t, json.Valid(turn.Calls[0].Input))
	return turn.Calls[0].Name + " " + string(turn.Calls[0].Input)
}
