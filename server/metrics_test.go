package server_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/server"
)

// scraped are the samples of one scrape that are ours, by name and labels.
type scraped map[string]float64

func scrape(t *testing.T, s *server.Server) scraped {
	t.Helper()
	got := httptest.NewRecorder()
	s.Metrics().ServeHTTP(got, httptest.NewRequest("GET", "/metrics", nil))
	require.Equal(t, 200, got.Code)
	require.NotContains(t, got.Body.String(), "canary")
	require.NotContains(t, got.Body.String(), "KITE-")
	require.NotContains(t, got.Body.String(), "kitebase.test")
	all := scraped{}
	for line := range strings.Lines(got.Body.String()) {
		if line, ours := strings.CutPrefix(strings.TrimSpace(line), "kitebase_mcp_"); ours {
			name, value, _ := strings.Cut(line, " ")
			number, err := strconv.ParseFloat(value, 64)
			require.NoError(t, err, line)
			all[name] = number
		}
	}
	return all
}

func replyWith(message string) string {
	return fmt.Sprintf(`{"ticket_id":"KITE-142","message":%q}`, message)
}

// TestMetricsOfARun makes everything happen that is counted. The budget: three attempts failed, two successes came after the first.
func TestMetricsOfARun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watch(t, server.Config{Metrics: true, Token: "canary-token"})
		w.call("get_ticket", readTicket, "{}")
		w.fails(1, "get_ticket", `{"ticket_id":"KITE-999999"}`)
		faulty(t, w.Fake, "reply_to_customer=lose:1")
		for _, host := range []string{"a", "a", "b"} { // ours, then the host's, then the model's
			require.False(t, w.call("reply_to_customer", replyWith("canary"), `{"claudecode/toolUseId":"`+host+`"}`).IsError)
		}
		w.call("get_ticket", `{"ticket_id":"KITE-143"}`, "{}")
		faulty(t, w.Fake, "get_ticket=drop")
		require.False(t, w.call("get_ticket", `{"ticket_id":"KITE-143"}`, "{}").IsError, "a copy")
		faulty(t, w.Fake, "search_tickets=redirect") // which counts for the circuit and not for the budget
		for i := range 6 {
			w.fails(1, "search_tickets", fmt.Sprintf(`{"query":"canary %d"}`, i))
		}
		faulty(t, w.Fake, "search_help=hang")
		hung := w.begin("tools/call", `{"name":"search_help","arguments":{"query":"canary"}}`)
		synctest.Wait()

		got := scrape(t, w.server)
		for name, want := range map[string]float64{
			`calls_total{result="ok",tool="get_ticket"}`:                3,
			`calls_total{result="not_found",tool="get_ticket"}`:         1,
			`calls_total{result="ok",tool="reply_to_customer"}`:         3,
			`calls_total{result="misconfigured",tool="search_tickets"}`: 5,
			`attempts_total{tool="get_ticket"}`:                         5,
			`attempts_total{tool="reply_to_customer"}`:                  2,
			`retries_total{tool="get_ticket"}`:                          1,
			`retries_total{tool="reply_to_customer"}`:                   1,
			`duplicates_suppressed_total{by="retry"}`:                   1,
			`duplicates_suppressed_total{by="host"}`:                    1,
			`duplicates_suppressed_total{by="model"}`:                   1,
			`duplicates_suppressed_total{by="unknown"}`:                 0,
			`fallback_answers_total{tool="get_ticket"}`:                 1,
			`refusals_total{tool="search_tickets"}`:                     1,
			`calls_total{result="circuit_open",tool="search_tickets"}`:  1,
			`calls_in_progress{tool="search_help"}`:                     1,
			`calls_in_progress{tool="get_ticket"}`:                      0,
			`call_duration_seconds_count{tool="search_tickets"}`:        6,
			`circuit_state{state="open",tool="search_tickets"}`:         1,
			`retries_paused`: 0, `retry_budget_tokens_max`: 10, `retry_budget_tokens`: 7.2,
		} {
			require.Contains(t, got, name)
			require.InDelta(t, want, got[name], 1e-9, name)
		}
		w.write(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + hung + `}}`)
		synctest.Wait()
		require.Zero(t, scrape(t, w.server)[`calls_in_progress{tool="search_help"}`])
	})
}

// TestMetricsOff: who does not ask for them has none.
func TestMetricsOff(t *testing.T) {
	s, err := server.New(server.Config{})
	require.NoError(t, err)
	defer s.Close()
	require.Nil(t, s.Metrics())
}

func TestLedgerMetrics(t *testing.T) {
	t.Run("a ledger that nobody needed is not opened by a scrape", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var opened atomic.Int32
			w := watch(t, server.Config{Metrics: true, Tools: []string{server.ReadOnly}, Store: &idempotency.Standby{
				Open: func(context.Context) (idempotency.Store, error) { opened.Add(1); return new(idempotency.Memory), nil },
			}})
			time.Sleep(time.Minute)
			require.NotContains(t, scrape(t, w.server), "ledger_usable")
			require.Zero(t, opened.Load())
			degraded, err := w.server.Ready(t.Context())
			require.NoError(t, err)
			require.Empty(t, degraded)
			require.Zero(t, opened.Load(), "what only reads needs no ledger")
		})
	})
	t.Run("what an earlier server left open is known by the look at the start", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			store := new(idempotency.Memory)
			leaveUnknown(t, store, "KITE-142")
			time.Sleep(10 * time.Minute)
			w := watch(t, server.Config{Metrics: true, Store: store})
			faulty(t, w.Fake, "get_ticket=drop")
			require.NotContains(t, scrape(t, w.server), "unknown_replies")
			time.Sleep(2 * time.Second)
			got := scrape(t, w.server)
			require.InDelta(t, 1, got["ledger_usable"], 0)
			require.InDelta(t, 1, got["unknown_replies"], 0)
			require.InDelta(t, 662, got["oldest_unknown_reply_age_seconds"], 0)
			w.ClearFaults("get_ticket")
			w.call("reply_to_customer", replyWith("hello"), "{}") // looks for the other one first
			time.Sleep(time.Second)
			got = scrape(t, w.server)
			require.Zero(t, got["unknown_replies"])
			require.Zero(t, got["oldest_unknown_reply_age_seconds"])
		})
	})
	t.Run("a ledger that hangs keeps a scrape no longer than a glance, and a check two seconds", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			store := &sick{}
			w := watch(t, server.Config{Metrics: true, Store: store})
			t.Cleanup(func() { store.hangs.Store(false) }) // or a failed test would not end
			time.Sleep(2 * time.Second)
			require.InDelta(t, 1, scrape(t, w.server)["ledger_usable"], 0)
			time.Sleep(2 * time.Second)
			store.hangs.Store(true)
			began := time.Now()
			require.InDelta(t, 1, scrape(t, w.server)["ledger_usable"], 0, "by the look before")
			require.Equal(t, 250*time.Millisecond, time.Since(began))
			_, err := w.server.Ready(t.Context())
			require.ErrorContains(t, err, "does not answer")
			require.Equal(t, 2*time.Second, time.Since(began), "one look for both")
			require.Zero(t, scrape(t, w.server)["ledger_usable"])
			require.Equal(t, 2*time.Second, time.Since(began), "nobody waits for it again")
			store.hangs.Store(false)
			time.Sleep(2 * time.Second)
			_, err = w.server.Ready(t.Context())
			require.NoError(t, err)
		})
	})
}

// leaveUnknown writes down a reply of which nobody knows whether it was sent.
func leaveUnknown(t *testing.T, store idempotency.Store, ticket string) {
	t.Helper()
	ledger := idempotency.NewLedger(store, idempotency.Config{Scope: server.Scope("http://kitebase.test", "")})
	record, err := ledger.Claim(t.Context(), idempotency.Identity{
		Fingerprint: "an earlier one", Group: ticket, Tool: "reply_to_customer", Key: func(int) string { return "0123456789abcdef" },
	}, idempotency.Record{})
	require.NoError(t, err)
	time.Sleep(time.Minute) // the age is that of the first attempt, not of the last change
	record.State, record.Owner = idempotency.Unconfirmed, ""
	require.NoError(t, ledger.Save(t.Context(), &record))
}
