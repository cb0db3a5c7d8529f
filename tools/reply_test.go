package tools_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/tools"
	"github.com/kitebase/kitebase-mcp/tools/kitebase"
)

const receipt = `{"reply_id":"rpl_001","sent_to":"Northwind Studio","created_at":"2026-01-02T03:04:05Z"}`

func TestReplyKey(t *testing.T) {
	reply := wireRequest(`{"ticket_id":" kite-142 ","message":"\nAny update? "}`)
	t.Run("of the layer above", func(t *testing.T) {
		upstream := answering(201, receipt)
		_, err := tool(upstream.client(t), "reply_to_customer").Handle(idempotency.WithKey(t.Context(), "2nd-generation"), reply)
		require.NoError(t, err)
		require.Equal(t, []string{"2nd-generation"}, upstream.keys)
	})
	t.Run("without a layer", func(t *testing.T) {
		upstream := answering(201, receipt)
		_, err := tool(upstream.client(t), "reply_to_customer").Handle(t.Context(), reply)
		require.NoError(t, err)
		require.Equal(t, []string{"9edb4ee9f524df95"}, upstream.keys)
		require.Equal(t, []string{`POST /v1/tickets/KITE-142/replies {"message":"Any update?"}`}, upstream.requests)
	})
}

// Within one call a replay is the answer that the first attempt lost: a plain success, except for those who look closer.
func TestReplayedReply(t *testing.T) {
	for name, test := range map[string]struct {
		status int
		header map[string]string
		meta   bool
	}{
		"new":      {201, nil, false},
		"replayed": {200, map[string]string{"Idempotent-Replayed": "true"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			upstream := &upstream{status: test.status, header: test.header, body: receipt}
			result, err := call(upstream.client(t), "reply_to_customer", `{"ticket_id":"KITE-142","message":"Hello"}`)
			require.NoError(t, err)
			require.NotContains(t, requireSuccess(t, "reply_to_customer", result), "already")
			require.Equal(t, test.meta, result.Meta != nil && result.Meta.AdditionalFields["io.kitebase/upstream_replayed"] == true)
		})
	}
}

func TestFindReply(t *testing.T) {
	since := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	agent := func(id, body, key string, at time.Time) kitebase.Message {
		return kitebase.Message{ID: id, Author: "agent", Body: body, IdempotencyKey: key, CreatedAt: at}
	}
	customer := agent("msg_1", "Café\nbye", "", since)
	customer.Author = "customer"
	for name, test := range map[string]struct {
		messages []kitebase.Message
		want     string
	}{
		"by key":                       {[]kitebase.Message{agent("rpl_1", "whatever Kitebase made of it", "k1", since)}, "rpl_1"},
		"by key, however old":          {[]kitebase.Message{agent("rpl_1", "Café\nbye", "k1", since.Add(-time.Hour))}, "rpl_1"},
		"another key, same text":       {[]kitebase.Message{agent("rpl_1", "Café\nbye", "k2", since)}, ""},
		"same text":                    {[]kitebase.Message{agent("rpl_1", "Café\nbye", "", since)}, "rpl_1"},
		"same text, CRLF and NFD":      {[]kitebase.Message{agent("rpl_1", "Cafe\u0301\r\nbye\n", "", since)}, "rpl_1"},
		"same text, too old":           {[]kitebase.Message{agent("rpl_1", "Café\nbye", "", since.Add(-time.Nanosecond))}, ""},
		"same text, by the customer":   {[]kitebase.Message{customer}, ""},
		"another text":                 {[]kitebase.Message{agent("rpl_1", "Café\nBye", "", since)}, ""},
		"the first after since":        {[]kitebase.Message{agent("rpl_1", "Café\nbye", "", since.Add(-1)), agent("rpl_2", "Café\nbye", "", since), agent("rpl_3", "Café\nbye", "", since)}, "rpl_2"},
		"behind other people's":        {[]kitebase.Message{customer, agent("rpl_1", "other", "k2", since), agent("rpl_2", "x", "k1", since)}, "rpl_2"},
		"nothing in a new ticket":      {nil, ""},
		"a text that only begins same": {[]kitebase.Message{agent("rpl_1", "Café\nbye!", "", since)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, found := tools.FindReply(kitebase.Ticket{ID: "KITE-1", Messages: test.messages}, "k1",
				idempotency.Fingerprint("KITE-1", "Café\nbye"), since)
			require.Equal(t, test.want != "", found)
			require.Equal(t, test.want, got.ID)
		})
	}
	t.Run("no key is no match for no key", func(t *testing.T) {
		_, found := tools.FindReply(kitebase.Ticket{ID: "KITE-1", Messages: []kitebase.Message{agent("rpl_1", "other", "", since)}}, "",
			idempotency.Fingerprint("KITE-1", "Hello"), time.Time{})
		require.False(t, found)
	})
}
