package kitebase_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/tools/kitebase"
)

const (
	keyReused  = "urn:kitebase:problem:idempotency-key-reused"
	inProgress = "urn:kitebase:problem:idempotency-in-progress"
)

func problemOf(kind string) string {
	return fmt.Sprintf(`{"type":%q,"title":"upstream words","status":400}`, kind)
}

// statusRow is one row of the table of statuses.
type statusRow struct {
	status    int
	body      string
	kind      string
	outcome   string
	retryable bool
	reason    string
}

func statusRows() []statusRow {
	const blank = "about:blank"
	return []statusRow{
		{400, problemOf(blank), "invalid", "not_done", false, "Kitebase refused the input. Change it before you try again."},
		{401, problemOf(blank), "denied", "not_done", false, "Kitebase refused the access token"},
		{402, "", "denied", "not_done", false, "Kitebase answered 402"},
		{403, problemOf(blank), "denied", "not_done", false, "Kitebase does not allow this with the access token"},
		{404, problemOf(blank), "not_found", "not_done", false, "Kitebase has nothing of that name"},
		{405, "", "misconfigured", "not_done", false, "Kitebase answered 405"},
		{407, "", "misconfigured", "not_done", false, "Kitebase answered 407"},
		{408, "", "unavailable", "unknown", true, "Kitebase answered 408"},
		{409, problemOf(blank), "conflict", "not_done", false, "it does not fit the present state of the ticket"},
		{409, problemOf(inProgress), "in_progress", "unknown", true, "the first request with this key was still running"},
		// Without a readable problem document the 409 may have been the one in flight.
		{409, "<h1>Conflict</h1>", "conflict", "unknown", false, "it does not fit the present state of the ticket"},
		{409, "null", "conflict", "unknown", false, "it does not fit the present state of the ticket"},
		{410, "", "not_found", "not_done", false, "Kitebase has nothing of that name"},
		{412, problemOf(blank), "conflict", "not_done", false, "it does not fit the present state of the ticket"},
		{413, "", "invalid", "not_done", false, "Kitebase refused the input as too large. Send less."},
		{414, "", "invalid", "not_done", false, "Kitebase refused the input as too large. Send less."},
		{415, "", "misconfigured", "not_done", false, "Kitebase answered 415"},
		{422, problemOf(blank), "invalid", "not_done", false, "Kitebase refused the input. Change it before you try again."},
		{422, problemOf(keyReused), "key_reused", "not_done", false, "Kitebase already knows the key of this reply, with another message"},
		{422, "garbage", "invalid", "not_done", false, "Kitebase refused the input. Change it before you try again."},
		{423, "", "conflict", "not_done", false, "it does not fit the present state of the ticket"},
		{425, "", "unavailable", "not_done", true, "Kitebase answered 425"},
		{429, problemOf(blank), "rate_limited", "not_done", true, "Kitebase is limiting requests"},
		{451, "", "denied", "not_done", false, "Kitebase answered 451"},
		{500, problemOf(blank), "unavailable", "unknown", true, "Kitebase answered 500"},
		{502, "<h1>Bad gateway</h1>", "unavailable", "unknown", true, "Kitebase answered 502"},
		{503, "", "unavailable", "unknown", true, "Kitebase answered 503"},
		{504, "", "unavailable", "unknown", true, "Kitebase answered 504"},
		{599, "", "unavailable", "unknown", true, "Kitebase answered 599"},
		{299, receiptJSON, "bad_answer", "unknown", true, "Kitebase answered 299"},
		{202, receiptJSON, "bad_answer", "unknown", true, "Kitebase answered 202"},
		{204, "", "bad_answer", "unknown", true, "Kitebase answered 204"},
		{300, "", "misconfigured", "unknown", false, "Kitebase redirected the request"},
		{101, "", "misconfigured", "unknown", false, "Kitebase answered 101"},
		{999, "", "bad_answer", "unknown", true, "Kitebase answered 999"},
	}
}

func TestStatuses(t *testing.T) {
	for _, row := range statusRows() {
		t.Run(fmt.Sprintf("%d %.60s", row.status, row.body), func(t *testing.T) {
			server := serveRaw(t, rawAnswer(row.status, "Content-Type: application/problem+json\r\nX-Request-Id: req_7", row.body))
			_, err := reply(t.Context(), newClient(t, server.url))
			failure := asError(t, err)
			require.Equal(t, row.kind, failure.Kind())
			require.Equal(t, row.outcome, failure.Outcome().String())
			require.Equal(t, row.retryable, failure.Retryable())
			require.Equal(t, row.reason, failure.Reason())
			require.False(t, failure.Refused())
			require.Equal(t, row.status, failure.Status)
			require.Equal(t, "req_7", failure.RequestID)
			require.Equal(t, 1, server.count())
			require.NotContains(t, failure.Error(), "upstream words")
		})
	}
}

func TestProblemType(t *testing.T) {
	client := answering(t, 422, "application/problem+json", problemOf("urn:kitebase:problem:unknown-assignee"))
	_, err := client.AssignTicket(t.Context(), "KITE-142", "nobody")
	require.Equal(t, "urn:kitebase:problem:unknown-assignee", asError(t, err).ProblemType)
}

// Created is the status of a reply. On a read it means that something else answers.
func TestCreatedIsForRepliesOnly(t *testing.T) {
	for _, op := range operations() {
		t.Run(op.name, func(t *testing.T) {
			_, err := op.call(t.Context(), answering(t, http.StatusCreated, "application/json", op.answer))
			if op.name == "reply_to_customer" {
				require.NoError(t, err)
				return
			}
			require.Equal(t, kitebase.KindBadAnswer, asError(t, err).Kind())
		})
	}
}

// Retry-After belongs to answers that a wait can mend.
func TestRetryAfterIsReadWhereItCounts(t *testing.T) {
	for _, row := range []struct {
		status int
		body   string
		want   time.Duration
	}{
		{429, "", 7 * time.Second},
		{503, "", 7 * time.Second},
		{409, problemOf(inProgress), 7 * time.Second},
		{409, problemOf("about:blank"), 0},
		{500, "", 0},
		{301, "", 0},
	} {
		t.Run(fmt.Sprint(row.status, row.want), func(t *testing.T) {
			server := serveRaw(t, rawAnswer(row.status, "Retry-After: 7", row.body))
			_, err := reply(t.Context(), newClient(t, server.url))
			require.Equal(t, row.want, asError(t, err).RetryAfter())
		})
	}
}

// A request id goes into log lines, so one that could forge a line is dropped, and so is our token, which some gateways send
// back in every header.
func TestRequestIDsForLogs(t *testing.T) {
	for _, id := range []string{"two words", "tab\there", "caf\xc3\xa9", fmt.Sprintf("%0200d", 1), "s3cret-token", "id=s3cret-token;x"} {
		server := serveRaw(t, rawAnswer(500, "X-Request-Id: "+id, ""))
		_, err := reply(t.Context(), newClient(t, server.url))
		require.Empty(t, asError(t, err).RequestID)
	}
}
