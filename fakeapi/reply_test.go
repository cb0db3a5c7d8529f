package fakeapi_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/fakeapi"
)

type message struct {
	ID, Author, Body string
	IdempotencyKey   *string `json:"idempotency_key"`
}

func (d *desk) messages(ticketID string) []message {
	d.t.Helper()
	var ticket struct{ Messages []message }
	require.NoError(d.t, json.Unmarshal([]byte(d.do("GET", "/v1/tickets/"+ticketID, "").body), &ticket))
	return ticket.Messages
}

func TestReply(t *testing.T) {
	d := newDesk(t, fakeapi.Config{})
	r := d.send("k", " Hello <you> \n")
	require.Equal(t, http.StatusCreated, r.status)
	require.Equal(t, "rpl_001", r.field(t, "reply_id"))
	require.Equal(t, "Northwind Studio", r.field(t, "sent_to"))

	outbox := d.Outbox()
	require.Len(t, outbox, 1)
	require.NotZero(t, outbox[0].SentAt)
	require.Equal(t, d.Requests()[0].RequestID, outbox[0].RequestID)
	require.Equal(t, r.header.Get("X-Request-Id"), outbox[0].RequestID)
	outbox[0].SentAt, outbox[0].RequestID = fakeapi.Email{}.SentAt, ""
	require.Equal(t, fakeapi.Email{ReplyID: "rpl_001", TicketID: "KITE-142", To: "it@northwind.example", Body: " Hello <you> \n", IdempotencyKey: "k"}, outbox[0])

	last := d.messages("KITE-142")[3]
	require.Equal(t, message{ID: "rpl_001", Author: "agent", Body: " Hello <you> \n", IdempotencyKey: new("k")}, last)
	require.Equal(t, "rpl_002", d.send("", "Another").field(t, "reply_id"))
	require.Nil(t, d.messages("KITE-142")[4].IdempotencyKey)
}

func TestSameKey(t *testing.T) {
	t.Run("and same reply is sent once", func(t *testing.T) {
		d := newDesk(t, fakeapi.Config{})
		first, again := d.send("k", "Hello"), d.send("k", "Hello")
		require.Equal(t, []int{201, 200}, []int{first.status, again.status})
		require.Equal(t, first.body, again.body)
		require.Empty(t, first.header.Get("Idempotent-Replayed"))
		require.Equal(t, "true", again.header.Get("Idempotent-Replayed"))
		require.Len(t, d.Outbox(), 1)
		require.Len(t, d.messages("KITE-142"), 4)
	})
	t.Run("and another message or ticket is refused", func(t *testing.T) {
		d := newDesk(t, fakeapi.Config{})
		d.send("k", "Hello")
		for _, r := range []reply{
			d.send("k", "Hello "),
			d.do("POST", "/v1/tickets/KITE-101/replies", messageBody("Hello"), "Idempotency-Key", "k"),
		} {
			require.Equal(t, http.StatusUnprocessableEntity, r.status)
			require.Equal(t, "urn:kitebase:problem:idempotency-key-reused", r.field(t, "type"))
		}
		require.Len(t, d.Outbox(), 1)
	})
	t.Run("by many at once is sent once", func(t *testing.T) {
		d := newDesk(t, fakeapi.Config{})
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() { _, _ = d.try("POST", replies, messageBody("Hello"), "Idempotency-Key", "k") })
		}
		all.Wait()
		require.Len(t, d.Outbox(), 1)
		require.Len(t, d.Requests(), 20)
	})
	t.Run("is sent again when keys are ignored", func(t *testing.T) {
		d := newDesk(t, fakeapi.Config{IgnoreKeys: true})
		require.Equal(t, "rpl_001", d.send("k", "Hello").field(t, "reply_id"))
		require.Equal(t, "rpl_002", d.send("k", "Hello").field(t, "reply_id"))
		require.Len(t, d.Outbox(), 2)
		require.Nil(t, d.messages("KITE-142")[4].IdempotencyKey)
	})
}

func TestRefusedReplies(t *testing.T) {
	const limit = 64 << 10
	for name, tt := range map[string]struct {
		path, body string
		headers    []string
		status     int
		kind       string
	}{
		"unknown ticket":     {"/v1/tickets/KITE-412/replies", messageBody("Hi"), nil, 404, "ticket-not-found"},
		"bad ticket id":      {"/v1/tickets/KITE-1%2F2/replies", messageBody("Hi"), nil, 400, "invalid-ticket-id"},
		"blank":              {replies, messageBody(" \u00a0\n"), nil, 422, "invalid-message"},
		"missing":            {replies, `{"text":"Hi"}`, nil, 422, "invalid-message"},
		"null":               {replies, `{"message":null}`, nil, 422, "invalid-message"},
		"a number":           {replies, `{"message":1}`, nil, 422, "invalid-message"},
		"no object":          {replies, `"Hi"`, nil, 400, "invalid-body"},
		"no JSON":            {replies, `{"message":`, nil, 400, "invalid-body"},
		"too long":           {replies, messageBody(strings.Repeat("é", limit/2) + "!"), nil, 422, "invalid-message"},
		"far too long":       {replies, messageBody(strings.Repeat("a", 1<<20)), nil, 413, "body-too-large"},
		"wrong content type": {replies, messageBody("Hi"), []string{"Content-Type", "text/plain"}, 415, "unsupported-media-type"},
		"key too long":       {replies, messageBody("Hi"), []string{"Idempotency-Key", strings.Repeat("k", 256)}, 400, "invalid-idempotency-key"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, fakeapi.Config{})
			r := d.do("POST", tt.path, tt.body, tt.headers...)
			require.Equal(t, tt.status, r.status, r.body)
			require.Equal(t, "urn:kitebase:problem:"+tt.kind, r.field(t, "type"))
			require.Empty(t, d.Outbox())
			require.Equal(t, tt.status, d.Requests()[0].Status)
		})
	}
	t.Run("just short enough", func(t *testing.T) {
		d := newDesk(t, fakeapi.Config{})
		require.Equal(t, http.StatusCreated, d.send("k", strings.Repeat("é", limit/2)).status)
	})
}
