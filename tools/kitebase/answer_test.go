package kitebase_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/tools/kitebase"
)

// badAnswer is an answer with the right status that must not pass for a success.
type badAnswer struct{ name, contentType, body, reason string }

const (
	incomplete = "Kitebase's answer lacked required data"
	unreadable = "Kitebase's answer could not be read"
	cutOff     = "Kitebase's answer was cut off"
	other      = "Kitebase's answer was about something else"
)

// everywhere are answers that are bad for each of the five operations.
func everywhere() []badAnswer {
	const media = "application/json"
	return []badAnswer{
		{"html", "text/html; charset=utf-8", "<html>Sign in</html>", "Kitebase answered with a web page instead of data"},
		{"html that says it is JSON", media, "<html>Sign in</html>", unreadable},
		{"plain text", "text/plain", `{"ok":true}`, "Kitebase answered with something other than data"},
		{"no content type", "", `{"ok":true}`, "Kitebase answered with something other than data"},
		{"empty", media, "", cutOff},
		{"white space", media, " \n", cutOff},
		{"ok false", media, `{"ok":false}`, incomplete},
		{"null", media, "null", incomplete},
		{"array", media, "[]", unreadable},
		{"string", media, `"done"`, unreadable},
		{"too large", media, `{"filler":"` + strings.Repeat("x", 1<<20) + `"}`, "Kitebase's answer was too large"},
	}
}

func TestBadAnswersOfEveryOperation(t *testing.T) {
	for _, op := range operations() {
		rows := append(everywhere(),
			badAnswer{"half", "application/json", op.answer[:len(op.answer)/2], cutOff},
			badAnswer{"something behind it", "application/json", op.answer + "{}", unreadable},
		)
		for _, row := range rows {
			t.Run(op.name+"/"+row.name, func(t *testing.T) { requireBad(t, op, row) })
		}
	}
}

func requireBad(t *testing.T, op operation, row badAnswer) {
	t.Helper()
	got, err := op.call(t.Context(), answering(t, op.status, row.contentType, row.body))
	require.Error(t, err)
	require.Empty(t, got, "a failure comes without a value")
	failure := requireFailure(t, err, kitebase.KindBadAnswer, "unknown", row.reason)
	require.Equal(t, op.status, failure.Status)
	require.True(t, failure.Retryable())
	require.NotContains(t, err.Error(), "Sign in")
}

// swap names a part of the good answer of an operation and what stands there instead.
type swap struct{ operation, from, to, reason string }

func TestBadFields(t *testing.T) {
	rows := []swap{
		{"search_help", `[{"id":"account-recovery#2","title":"Recovery","text":"Locked out"}]`, `null`, incomplete},
		{"search_help", `"articles"`, `"items"`, incomplete},
		{"search_help", `"account-recovery#2"`, `""`, incomplete},
		{"search_help", `"text":"Locked out"`, `"text":null`, incomplete},
		{"get_ticket", `"id":"KITE-142"`, `"id":"KITE-143"`, other},
		{"get_ticket", `"id":"KITE-142"`, `"id":"kite-142"`, other},
		{"get_ticket", `"id":"KITE-142",`, ``, incomplete},
		{"get_ticket", `"id":"KITE-142"`, `"id":142`, unreadable},
		{"get_ticket", `"status":"in_progress"`, `"status":""`, incomplete},
		{"get_ticket", `"created_at":"2026-03-02T09:00:00Z","updated_at"`, `"updated_at"`, incomplete},
		{"get_ticket", `"updated_at":"2026-03-02T10:00:00Z"`, `"updated_at":"yesterday"`, unreadable},
		{"get_ticket", `"messages":[`, `"messages":null,"others":[`, incomplete},
		{"get_ticket", `"id":"msg_1"`, `"id":""`, incomplete},
		{"get_ticket", `"author":"agent",`, ``, incomplete},
		{"get_ticket", `"On it.","created_at":"2026-03-02T10:00:00Z"`, `"On it."`, incomplete},
		{"search_tickets", `"tickets":[`, `"tickets":null,"others":[`, incomplete},
		{"search_tickets", `"total":31`, `"total":0`, incomplete},
		{"search_tickets", `"total":31`, `"total":"31"`, unreadable},
		{"search_tickets", `"id":"KITE-142"`, `"id":""`, incomplete},
		{"assign_ticket", `"id":"KITE-142"`, `"id":"KITE-1"`, other},
		{"assign_ticket", `"assignee":"priya"`, `"assignee":null`, other},
		{"assign_ticket", `"assignee":"priya"`, `"assignee":"tomas"`, other},
		{"assign_ticket", `"title":"Customer locked out after SSO change",`, ``, incomplete},
		{"reply_to_customer", `"reply_id":"rpl_001",`, ``, incomplete},
		{"reply_to_customer", `"rpl_001"`, `null`, incomplete},
		{"reply_to_customer", `"rpl_001"`, `1`, unreadable},
		{"reply_to_customer", `"Northwind Studio"`, `""`, incomplete},
		{"reply_to_customer", `,"created_at":"2026-03-02T10:00:00Z"`, ``, incomplete},
	}
	for _, op := range operations() {
		for _, row := range rows {
			if row.operation != op.name {
				continue
			}
			t.Run(op.name+"/"+row.from+" as "+row.to, func(t *testing.T) {
				body := strings.Replace(op.answer, row.from, row.to, 1)
				require.NotEqual(t, op.answer, body, "the row changes nothing")
				requireBad(t, op, badAnswer{contentType: "application/json", body: body, reason: row.reason})
			})
		}
	}
}

// Kitebase may spell a login its own way: that is the assignee that was asked for.
func TestTheSpellingOfAnAssignee(t *testing.T) {
	client := answering(t, 200, "application/json", strings.Replace(summaryJSON, "priya", "Priya", 1))
	got, err := client.AssignTicket(t.Context(), "KITE-142", "priya")
	require.NoError(t, err)
	require.Equal(t, "Priya", got.Assignee)
}

// A newer Kitebase that tells more is still understood.
func TestUnknownFieldsAreIgnored(t *testing.T) {
	client := answering(t, 201, "application/json", strings.Replace(receiptJSON, "{", `{"channel":"email",`, 1))
	_, err := reply(t.Context(), client)
	require.NoError(t, err)
}

// The limit is on what is read, so an answer of exactly that size is fine.
func TestTheLargestAnswer(t *testing.T) {
	filler := strings.Repeat("x", 1<<20-len(receiptJSON)-len(`"filler":"",`))
	client := answering(t, 201, "application/json", strings.Replace(receiptJSON, "{", `{"filler":"`+filler+`",`, 1))
	_, err := reply(t.Context(), client)
	require.NoError(t, err)
}

// An answer without end is given up at the limit, not read for ever.
func TestAnEndlessAnswer(t *testing.T) {
	written := make(chan int, 1)
	client := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		n, chunk := 0, bytes.Repeat([]byte(" "), 1<<16)
		for n < 1<<28 {
			if _, err := w.Write(chunk); err != nil {
				break
			}
			n += len(chunk)
		}
		written <- n
	})
	_, err := client.GetTicket(t.Context(), "KITE-142")
	requireFailure(t, err, kitebase.KindBadAnswer, "unknown", "Kitebase's answer was too large")
	require.Less(t, <-written, 1<<28)
}
