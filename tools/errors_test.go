package tools_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/tools/kitebase"
)

// failure is how the layers above read an error.
type failure interface {
	error
	Kind() string
	Reason() string
	Retryable() bool
	Outcome() idempotency.Outcome
}

func TestFailures(t *testing.T) {
	const (
		ticket = `{"ticket_id":"kite-412"}`
		assign = `{"ticket_id":"KITE-412","assignee":"bob"}`
		reply  = `{"ticket_id":"KITE-412","message":"Hello"}`
		none   = "No ticket KITE-412. Ticket ids look like KITE-142."
	)
	for name, test := range map[string]struct {
		tool, arguments string
		status          int
		problem         string
		kind, reason    string
		outcome         idempotency.Outcome
	}{
		"no such ticket to read":     {"get_ticket", ticket, 404, "", "not_found", none, idempotency.NotDone},
		"no such ticket to assign":   {"assign_ticket", assign, 404, "", "not_found", none, idempotency.NotDone},
		"no such ticket to reply to": {"reply_to_customer", reply, 404, "", "not_found", none, idempotency.NotDone},
		"no such agent": {"assign_ticket", assign, 422, "urn:kitebase:problem:unknown-assignee", "invalid",
			"Kitebase knows no agent of that name, so the ticket was not reassigned. Give the name of an agent as get_ticket and search_tickets show it under assignee.",
			idempotency.NotDone},
		"another 422":         {"assign_ticket", assign, 422, "", "invalid", "Kitebase refused the input. Change it before you try again.", idempotency.NotDone},
		"nothing to search":   {"search_help", `{"query":"x"}`, 404, "", "not_found", "Kitebase has nothing of that name", idempotency.NotDone},
		"down, maybe done":    {"reply_to_customer", reply, 503, "", "unavailable", "Kitebase answered 503", idempotency.Unknown},
		"denied":              {"search_tickets", `{"query":"x"}`, 401, "", "denied", "Kitebase refused the access token", idempotency.NotDone},
		"an answer of no use": {"reply_to_customer", reply, 201, "", "bad_answer", "Kitebase's answer lacked required data", idempotency.Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			upstream := answering(test.status, `{"type":"`+test.problem+`","detail":"canary","title":"canary"}`)
			upstream.header = map[string]string{"Content-Type": "application/problem+json"}
			if test.status < 300 {
				upstream.header = nil
			}
			result, err := call(upstream.client(t), test.tool, test.arguments)
			require.Nil(t, result)
			var got failure
			require.ErrorAs(t, err, &got)
			require.Equal(t, test.kind, got.Kind())
			require.Equal(t, test.reason, got.Reason())
			require.Equal(t, test.outcome, got.Outcome())
			require.NotContains(t, err.Error(), "canary", "nothing of upstream's text")

			var client *kitebase.Error
			require.ErrorAs(t, err, &client, "the client's error stays within reach")
			require.Equal(t, test.status, client.Status)
			require.Equal(t, client.Retryable(), got.Retryable())
		})
	}
}
