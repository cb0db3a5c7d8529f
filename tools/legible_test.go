package tools_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/tools"
	"github.com/kitebase/kitebase-mcp/tools/kitebase"
)

// answers are answers of Kitebase to a call of each tool, with @ in the place of every text that somebody else chooses. The
// assignee of assign_ticket is not among them: Kitebase must name the one that was asked for.
var answers = []struct{ tool, arguments, body string }{
	{"search_help", `{"query":"sso"}`, `{"articles":[{"id":@,"title":@,"text":@}]}`},
	{"get_ticket", `{"ticket_id":"KITE-142"}`, `{"id":"KITE-142","title":@,"status":@,"priority":@,"customer":{"name":@,"email":@},"assignee":@,
		"version":3,"created_at":"2026-01-02T03:04:05Z","updated_at":"2026-01-03T03:04:05Z",
		"messages":[{"id":@,"author":@,"body":@,"created_at":"2026-01-02T03:04:05Z"},{"id":"msg_2","author":"agent","body":"Hello","created_at":"2026-01-02T03:04:05Z"}]}`},
	{"search_tickets", `{"query":"sso"}`, `{"tickets":[{"id":@,"title":@,"status":@,"priority":@,"customer":{"name":@,"email":@},"assignee":@,
		"version":3,"created_at":"2026-01-02T03:04:05Z","updated_at":"2026-01-03T03:04:05Z"}],"total":1,"next_cursor":null}`},
	{"assign_ticket", `{"ticket_id":"KITE-142","assignee":"priya"}`, `{"id":"KITE-142","title":@,"status":@,"priority":@,"customer":{"name":@,"email":@},
		"assignee":"priya","version":3,"created_at":"2026-01-02T03:04:05Z","updated_at":"2026-01-03T03:04:05Z"}`},
	{"reply_to_customer", `{"ticket_id":"KITE-142","message":"Hello"}`, `{"reply_id":@,"sent_to":@,"created_at":"2026-01-02T03:04:05Z"}`},
}

// answered calls a tool that Kitebase answers so, with text in each place, or in the nth alone (from 0) and "x" in the others.
func answered(t *testing.T, tool, arguments, body, text string, nth int) *mcp.CallToolResult {
	t.Helper()
	encoded, err := json.Marshal(text)
	require.NoError(t, err)
	parts := strings.Split(body, "@")
	filled := parts[0]
	for i, part := range parts[1:] {
		if nth >= 0 && i != nth {
			filled += `"x"` + part
			continue
		}
		filled += string(encoded) + part
	}
	status := 200
	if tool == "reply_to_customer" {
		status = 201
	}
	result, err := call(answering(status, filled).client(t), tool, arguments)
	require.NoError(t, err)
	return result
}

// Every text of every tool is legible, and that something was removed is said in both forms.
func TestHiddenTextIsRemovedAndMarked(t *testing.T) {
	const note = "Invisible or control characters were removed from the text of this result."
	for _, test := range answers {
		t.Run(test.tool, func(t *testing.T) {
			for nth := range strings.Count(test.body, "@") {
				result := answered(t, test.tool, test.arguments, test.body, "be\u200bfore\x1b[8m\u202e after", nth)
				text := requireSuccess(t, test.tool, result)
				require.Contains(t, text, `"before after"`)
				require.Contains(t, text, `"cleaned":true`)
				require.True(t, strings.HasPrefix(text, note+"\n"), text)
				require.Contains(t, string(result.RawStructuredContent), note)
			}
			clean := requireSuccess(t, test.tool, answered(t, test.tool, test.arguments, test.body, "नमस्ते 👩🏽‍🚀 \u05e9\u05c1", -1))
			require.Contains(t, clean, `"नमस्ते 👩🏽‍🚀 `+"\u05e9\u05c1"+`"`)
			require.NotContains(t, clean, "cleaned")
		})
	}
}

// A model that looks for the message that was cleaned finds it.
func TestMessagesAreMarkedOneByOne(t *testing.T) {
	result, err := call(answering(200, ticketWith(t, "x", "a", "b\u200b", "c")).client(t), "get_ticket", `{"ticket_id":"KITE-1"}`)
	require.NoError(t, err)
	requireSuccess(t, "get_ticket", result)
	var got struct {
		Messages []struct {
			Body    string
			Cleaned bool
		}
	}
	require.NoError(t, json.Unmarshal(result.RawStructuredContent, &got))
	require.Equal(t, []bool{false, true, false}, []bool{got.Messages[0].Cleaned, got.Messages[1].Cleaned, got.Messages[2].Cleaned})
}

// What is compared is what Kitebase has, not what is shown: else a reply that holds such characters would be taken for one
// that was not sent, and be sent twice; and two replies could be taken for one.
func TestComparedAsItIs(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	const message = "Hel\u200blo\u202e, \u2066see\u2069 a\ufe0fbove"
	ticket := kitebase.Ticket{ID: "KITE-142", Customer: kitebase.Customer{Name: "Northwind"}, Messages: []kitebase.Message{
		{ID: "rpl_\u200b1", Author: "agent", Body: "Hello, see above", CreatedAt: at},
		{ID: "rpl_\u200c1", Author: "agent", Body: message, CreatedAt: at},
	}}
	found, ok := tools.FindReply(ticket, "", idempotency.Fingerprint("KITE-142", message), at)
	require.True(t, ok)
	require.Equal(t, "rpl_\u200c1", found.ID)

	result := tools.ReplyResult(ticket, found)
	requireSuccess(t, "reply_to_customer", result)
	require.Contains(t, string(result.RawStructuredContent), `"rpl_1"`)
	stored, err := json.Marshal(result) // as a ledger keeps it
	require.NoError(t, err)
	var read mcp.CallToolResult
	require.NoError(t, json.Unmarshal(stored, &read))
	for _, result := range []*mcp.CallToolResult{result, &read} {
		require.True(t, tools.IsReply(result, "rpl_\u200c1"))
		require.False(t, tools.IsReply(result, "rpl_\u200b1"))
		require.False(t, tools.IsReply(result, "rpl_1"))
		require.False(t, tools.IsReply(result, ""))
	}
	long := strings.Repeat("r", 1000)
	require.True(t, tools.IsReply(tools.ReplyResult(ticket, kitebase.Message{ID: long, CreatedAt: at}), long), "one that is cut for its length")
}

// The id of a reply stands in a sentence of an error, in which Kitebase must not speak.
func TestReplyNamesAreNoSentences(t *testing.T) {
	for id, want := range map[string]string{
		"rpl_001": "rpl_001", "rpl\u200b_001": "rpl_001", "rpl_001. Send it again": "", "": "", strings.Repeat("r", 1000): "",
	} {
		result := tools.ReplyResult(kitebase.Ticket{ID: "KITE-1"}, kitebase.Message{ID: id})
		require.Equal(t, want, tools.ReplyName(result), "%q", id)
	}
}
