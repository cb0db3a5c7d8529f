package fakeapi_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/fakeapi"
)

// FuzzControl states: whatever is sent to a control, it is answered in JSON or by 204, never by a 5xx; and a fault that is taken is one
// that can be set from Go.
func FuzzControl(f *testing.F) {
	for _, seed := range [][3]string{
		{"PUT", "/_faults/reply_to_customer", `{"fault":"lose","times":1}`},
		{"PUT", "/_faults/*", `{"fault":"slow","delay":"300ms","probability":0.3,"seed":7}`},
		{"PUT", "/_faults/get_ticket", `{"fault":"status","status":503,"retry_after":"30\n"}`},
		{"POST", "/_messages", `{"ticket_id":"KITE-142","body":"Any news?"}`},
		{"DELETE", "/_faults", ""}, {"GET", "/_outbox", ""}, {"GET", "/_requests?x", "{}"}, {"PUT", "/_faults/%00", "{}{}"},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	fake, err := fakeapi.New(fakeapi.Config{})
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, method, path, body string) {
		request, err := http.NewRequest(method, "http://kitebase.example/_"+strings.TrimPrefix(path, "/_"), strings.NewReader(body))
		if err != nil {
			return
		}
		w := httptest.NewRecorder()
		fake.ServeHTTP(w, request)
		require.Less(t, w.Code, 500, w.Body)
		require.True(t, w.Code == http.StatusNoContent || json.Valid(w.Body.Bytes()), w.Body)
		var fault fakeapi.Fault
		if w.Code == http.StatusNoContent && method == http.MethodPut {
			require.NoError(t, json.Unmarshal([]byte(body), &fault))
			require.NoError(t, fake.SetFault("*", fault))
		}
		fake.ClearFaults()
	})
}

// FuzzDataFile states: whatever a data file holds, it is either refused and left as it is, or the fake that takes it has its emails, and
// another one that takes what that one has written has the same.
func FuzzDataFile(f *testing.F) {
	for _, content := range []string{
		`{"format":"kitebase-fake/1","tickets":{},"outbox":[]}`, `{"format":"kitebase-fake/1"}`, `{"format":"kitebase-fake/9"}`, "", "null",
		`{"format":"kitebase-fake/1","tickets":{"KITE-142":{"assignee":"priya","version":2,"updated_at":"2026-03-04T12:00:00Z","added_messages":[]}},"outbox":null}`,
		`{"format":"kitebase-fake/1","tickets":{},"outbox":[{"reply_id":"rpl_001","ticket_id":"KITE-142","to":"a@b.example","body":"Hello","idempotency_key":"k","sent_at":"2026-03-04T12:00:00Z"}]}`,
		`{"format":"kitebase-fake/1","tickets":{"KITE-412":{}},"outbox":[]}`,
	} {
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, content string) {
		path := filepath.Join(t.TempDir(), "desk.json")
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		first, err := fakeapi.New(fakeapi.Config{DataFile: path})
		if err != nil {
			kept, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, content, string(kept))
			return
		}
		sent := len(first.Outbox())
		w := httptest.NewRecorder()
		request := httptest.NewRequest(http.MethodPost, "/v1/tickets/KITE-142/replies", strings.NewReader(`{"message":"Hello"}`))
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Idempotency-Key", "a key that no input has")
		first.ServeHTTP(w, request)
		require.Equal(t, http.StatusCreated, w.Code, w.Body)
		require.Len(t, first.Outbox(), sent+1)
		seen := map[string]bool{}
		for _, email := range first.Outbox()[sent:] {
			seen[email.ReplyID] = true
		}
		for _, email := range first.Outbox()[:sent] {
			require.False(t, seen[email.ReplyID], "the id of an earlier reply was given again")
		}
		second, err := fakeapi.New(fakeapi.Config{DataFile: path})
		require.NoError(t, err)
		require.Equal(t, first.Outbox(), second.Outbox())
	})
}
