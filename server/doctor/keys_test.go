package doctor_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/fakeapi"
	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/server"
	"github.com/kitebase/kitebase-mcp/server/doctor"
	"github.com/kitebase/kitebase-mcp/tools/kitebase"
)

// TestKeys: nothing is sent to find out whether Kitebase honours keys, but what was sent may show it.
func TestKeys(t *testing.T) {
	const ticket, text = "KITE-142", "Any update?"
	key := idempotency.Key(ticket, text)
	record := func(attempts int, result string) idempotency.Record {
		return idempotency.Record{
			Fingerprint: idempotency.Fingerprint(ticket, text), Generation: 1, Group: ticket, Key: key, Tool: "reply_to_customer",
			State: idempotency.Finished, Version: 1, FirstAt: time.Now(), LastAt: time.Now(), Attempts: attempts, Result: []byte(result),
		}
	}
	for name, c := range map[string]struct {
		keyless, ignores bool // what is said, and what is the case
		sends            int
		records          []idempotency.Record
		status           doctor.Status
		found            string
	}{
		"nothing was ever sent":                    {status: doctor.OK, found: "That is not proved: no reply that is on record here shows it."},
		"sent once":                                {sends: 1, records: []idempotency.Record{record(1, `{}`)}, status: doctor.OK, found: "That is not proved"},
		"two attempts, two copies":                 {ignores: true, sends: 2, records: []idempotency.Record{record(2, `{}`)}, status: doctor.Failed, found: "Kitebase ignores Idempotency-Key: the reply with the key " + key + " in KITE-142 went out more than once."},
		"told by the server":                       {records: []idempotency.Record{record(2, `{"content":[],"_meta":{"io.kitebase/key_ignored":true}}`)}, status: doctor.Failed, found: "Kitebase ignores Idempotency-Key"},
		"one attempt, and a person wrote the same": {ignores: true, sends: 2, records: []idempotency.Record{record(1, `{}`)}, status: doctor.OK, found: "That is not proved"},
		"recognised":                               {sends: 1, records: []idempotency.Record{record(2, `{"content":[],"_meta":{"io.kitebase/upstream_replayed":true}}`)}, status: doctor.OK, found: "Kitebase honours Idempotency-Key: it recognised the repeat of the reply with the key " + key},
		"said to ignore, and does":                 {keyless: true, ignores: true, sends: 2, records: []idempotency.Record{record(1, `{}`)}, status: doctor.OK, found: "is said to ignore"},
		"said to ignore, but recognises":           {keyless: true, sends: 1, records: []idempotency.Record{record(2, `{"content":[],"_meta":{"io.kitebase/upstream_replayed":true}}`)}, status: doctor.OK, found: "so that --upstream-keys=true would do"},
		"of a ticket that is not there":            {records: []idempotency.Record{{Fingerprint: "f", Generation: 1, Group: "KITE-9999", Key: "k", State: idempotency.Finished, Version: 1}}, status: doctor.OK, found: "That is not proved"},
		"a result that cannot be read":             {records: []idempotency.Record{record(2, `{`)}, status: doctor.OK, found: "That is not proved"},
		"a note of another kind of write":          {records: []idempotency.Record{{Fingerprint: "note-1", Generation: 1, Group: ticket, Tool: "assign_ticket", State: idempotency.Finished, Version: 1}}, status: doctor.OK, found: "That is not proved"},
	} {
		t.Run(name, func(t *testing.T) {
			fake, err := fakeapi.Start("127.0.0.1:0", fakeapi.Config{IgnoreKeys: c.ignores})
			require.NoError(t, err)
			t.Cleanup(fake.Close)
			client, err := kitebase.New(kitebase.Config{BaseURL: fake.URL()})
			require.NoError(t, err)
			t.Cleanup(client.Close)
			for range c.sends {
				_, err := client.Reply(t.Context(), kitebase.Reply{TicketID: ticket, Message: text, Key: key})
				require.NoError(t, err)
			}
			store := new(idempotency.Memory)
			for _, r := range c.records {
				r.Scope, r.LastAt = server.Scope(fake.URL(), ""), time.Now()
				_, written, err := store.Put(t.Context(), r, 0)
				require.NoError(t, err)
				require.True(t, written)
			}
			var config doctor.Config
			config.Server.URL, config.Server.IgnoresKeys = fake.URL(), c.keyless
			config.Ledger = doctor.Ledger{Where: "the file F", Open: func(context.Context) (idempotency.Store, error) { return store, nil }}
			before := len(fake.Outbox())
			got := find(t, config, "keys")
			require.Equal(t, c.status, got.Status, got.Found)
			require.Contains(t, got.Found, c.found)
			require.Equal(t, c.status == doctor.OK, got.Advice == "")
			require.Len(t, fake.Outbox(), before, "doctor sends nothing")
		})
	}
}

// A Kitebase that ignores keys may still show them with its messages.
func TestKeysThatStandTwiceInTheTicket(t *testing.T) {
	const message = `{"id":"rpl_%s","author":"agent","body":"Any update?","created_at":"2026-03-04T05:06:07Z","idempotency_key":"k1"}`
	url := startServer(t, (*httptest.Server).Start, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/v1/tickets" {
			_, _ = io.WriteString(w, `{"tickets":[],"total":0}`)
			return
		}
		_, _ = fmt.Fprintf(w, `{"id":"KITE-142","title":"t","status":"open","priority":"normal","customer":{"name":"Northwind Studio","email":"a@b.example"},`+
			`"assignee":"","version":1,"created_at":"2026-03-04T05:06:07Z","updated_at":"2026-03-04T05:06:07Z","messages":[`+message+","+message+`]}`, "001", "002")
	})
	store := new(idempotency.Memory)
	_, _, err := store.Put(t.Context(), idempotency.Record{
		Scope: server.Scope(url, ""), Fingerprint: "f", Generation: 1, Group: "KITE-142", Key: "k1", State: idempotency.Finished, Version: 1,
		FirstAt: time.Now(), LastAt: time.Now(),
	}, 0)
	require.NoError(t, err)
	var config doctor.Config
	config.Server.URL = url
	config.Ledger = doctor.Ledger{Where: "the file F", Open: func(context.Context) (idempotency.Store, error) { return store, nil }}
	got := find(t, config, "keys")
	require.Equal(t, doctor.Failed, got.Status)
	require.Equal(t, "Kitebase ignores Idempotency-Key: the reply with the key k1 in KITE-142 went out more than once.", got.Found)
	require.Contains(t, got.Advice, "--upstream-keys=false")
}
