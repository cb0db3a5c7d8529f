package tools_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/fakeapi"
	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/tools"
	"github.com/kitebase/kitebase-mcp/tools/kitebase"
)

// The other tests bring their own answers; these ask a help desk that knows nothing of this package.
func helpDesk(t *testing.T) (*fakeapi.Server, *kitebase.Client) {
	desk, err := fakeapi.Start("127.0.0.1:0", fakeapi.Config{})
	require.NoError(t, err)
	t.Cleanup(desk.Close)
	client, err := kitebase.New(kitebase.Config{BaseURL: desk.URL()})
	require.NoError(t, err)
	t.Cleanup(client.Close)
	return desk, client
}

func TestWorkOnATicket(t *testing.T) {
	desk, client := helpDesk(t)
	for _, step := range []struct{ tool, arguments, want string }{
		{"search_tickets", `{"query":"locked out after SSO change"}`, `{"tickets":[{"id":"KITE-142","title":"Customer locked out after SSO change"`},
		{"get_ticket", `{"ticket_id":"kite-142"}`, `{"id":"KITE-142","title":"Customer locked out after SSO change","status":"in_progress"`},
		{"search_help", `{"query":"locked out after SSO change"}`, `"id":"account-recovery#2"`},
		{"assign_ticket", `{"ticket_id":"KITE-142","assignee":"priya"}`, `"assignee":"priya"`},
		{"reply_to_customer", `{"ticket_id":"KITE-142","message":"Please sign in once from the SSO page."}`, `{"ticket_id":"KITE-142","reply_id":"rpl_001","sent_to":"Northwind Studio"`},
		{"get_ticket", `{"ticket_id":"KITE-142"}`, `"body":"Please sign in once from the SSO page."`},
	} {
		result, err := call(client, step.tool, step.arguments)
		require.NoError(t, err, step.tool)
		require.Contains(t, requireSuccess(t, step.tool, result), step.want)
	}
	require.Len(t, desk.Outbox(), 1)
}

func TestEveryStatusIsKnownToKitebase(t *testing.T) {
	_, client := helpDesk(t)
	description := tool(client, "search_tickets").Arguments[1].Description
	_, list, _ := strings.Cut(description, ": ")
	list, _, _ = strings.Cut(list, ".")
	words := strings.Split(strings.ReplaceAll(list, " or ", ", "), ", ")
	require.Len(t, words, 5)
	for _, status := range words {
		result, err := call(client, "search_tickets", `{"query":"","status":"`+status+`"}`)
		require.NoError(t, err, status)
		requireSuccess(t, "search_tickets", result)
	}
}

func TestUnknownNames(t *testing.T) {
	_, client := helpDesk(t)
	for _, test := range []struct{ tool, arguments, want string }{
		{"get_ticket", `{"ticket_id":"KITE-412"}`, "No ticket KITE-412. Ticket ids look like KITE-142."},
		{"reply_to_customer", `{"ticket_id":"KITE-412","message":"Hello"}`, "No ticket KITE-412. Ticket ids look like KITE-142."},
		{"assign_ticket", `{"ticket_id":"KITE-142","assignee":"nobody-of-that-name"}`, "Kitebase knows no agent of that name"},
	} {
		_, err := call(client, test.tool, test.arguments)
		var got failure
		require.ErrorAs(t, err, &got)
		require.True(t, strings.HasPrefix(got.Reason(), test.want), got.Reason())
		require.Equal(t, idempotency.NotDone, got.Outcome())
	}
}

func TestLongestMessage(t *testing.T) {
	desk, client := helpDesk(t)
	message := strings.Repeat("é", 32<<10)
	arguments, err := json.Marshal(map[string]string{"ticket_id": "KITE-142", "message": message + "\n"})
	require.NoError(t, err)
	_, err = call(client, "reply_to_customer", string(arguments))
	require.NoError(t, err)
	require.Equal(t, message, desk.Outbox()[0].Body)
}

// A reply whose answer was lost is found by reading, and told as if the answer had come.
func TestReplyFoundByReading(t *testing.T) {
	for name, ignoreKeys := range map[string]bool{"by key": false, "by text": true} {
		t.Run(name, func(t *testing.T) {
			desk, err := fakeapi.Start("127.0.0.1:0", fakeapi.Config{IgnoreKeys: ignoreKeys})
			require.NoError(t, err)
			defer desk.Close()
			client, err := kitebase.New(kitebase.Config{BaseURL: desk.URL()})
			require.NoError(t, err)
			defer client.Close()
			direct, err := call(client, "reply_to_customer", `{"ticket_id":"KITE-142","message":"Line one\r\nLine two"}`)
			require.NoError(t, err)

			ticket, err := client.GetTicket(t.Context(), "KITE-142")
			require.NoError(t, err)
			const asKept = "Line one\nLine two"
			key, fingerprint := idempotency.Key("KITE-142", "Line one\r\nLine two"), idempotency.Fingerprint("KITE-142", asKept)
			found, ok := tools.FindReply(ticket, key, fingerprint, time.Time{})
			require.True(t, ok)
			require.Equal(t, textOf(t, direct), textOf(t, tools.ReplyResult(ticket, found)))
		})
	}
}
