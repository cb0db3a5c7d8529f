package main_test

import (
	"net/http"
	"net/url"
	"path/filepath"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/fakeapi"
)

// health asks one of the paths that need no token.
func (s *site) health(path string) (status int, body string) {
	s.t.Helper()
	r := s.request(http.MethodGet, path, "")
	r.Header.Del("Authorization")
	got := s.send(s.t, r)
	return got.status, got.body
}

// becomes waits until readiness is answered so. Until then it may be answered as before, since a look holds for a second.
func (s *site) becomes(status int, body string) {
	s.t.Helper()
	for began := time.Now(); ; pause(100 * time.Millisecond) {
		gotStatus, got := s.health("/readyz")
		if gotStatus == status && got == body {
			return
		}
		require.Less(s.t, time.Since(began), watchdog, "/readyz is %d %q", gotStatus, got)
	}
}

// TestReadyWithBrokenLedgerFile: another process keeps the ledger file locked. No call has to show that it is free again: a
// load balancer sends none to a server that is not ready.
func TestReadyWithBrokenLedgerFile(t *testing.T) {
	t.Parallel()
	kitebase := startUpstream(t, fakeapi.Config{})
	ledger := filepath.Join(t.TempDir(), "ledger.db")
	s := startSiteWith(t, "--url", kitebase.url, "--ledger", ledger)
	s.becomes(http.StatusOK, "ok\n")

	lock := flock.New(ledger + ".lock")
	require.NoError(t, lock.Lock())
	require.Contains(t, s.ask(t, "reply_to_customer", updateReply).reply(t).Note, "Tell a person")
	s.becomes(http.StatusServiceUnavailable, "not ready\n")
	status, body := s.health("/healthz")
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, "ok\n", body)
	require.Contains(t, s.metrics(), "kitebase_mcp_ledger_usable 0\n")

	require.NoError(t, lock.Unlock())
	s.becomes(http.StatusOK, "ok\n")
	require.Contains(t, s.metrics(), "kitebase_mcp_ledger_usable 1\n")
	require.Empty(t, s.ask(t, "reply_to_customer", replyTo("KITE-101", "Hello")).reply(t).Note)
}

// TestReadyWithoutLedger: what cannot be opened at all is found out before the first call.
func TestReadyWithoutLedger(t *testing.T) {
	t.Parallel()
	s := startSiteWith(t, "--url", closedPort(t), "--ledger", t.TempDir()) // a folder is in its place
	status, body := s.health("/readyz")
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Equal(t, "not ready\n", body)

	inMemory := startSiteWith(t, "--url", closedPort(t), "--ledger=memory")
	status, body = inMemory.health("/readyz")
	require.Equal(t, http.StatusOK, status, "chosen on purpose")
	require.Equal(t, "ok\n", body)
}

// TestReadyWithPostgresCut: the database goes away under a running server, and comes back.
func TestReadyWithPostgresCut(t *testing.T) {
	t.Parallel()
	address, err := url.Parse(freshPostgres(t))
	require.NoError(t, err)
	cable := startCable(t, address.Host)
	address.Host = cable.addr
	kitebase := startUpstream(t, fakeapi.Config{})
	s := startSiteWith(t, "--url", kitebase.url, "--ledger", address.String())
	s.becomes(http.StatusOK, "ok\n")
	cable.cut(true)
	s.becomes(http.StatusServiceUnavailable, "not ready\n")
	cable.cut(false)
	s.becomes(http.StatusOK, "ok\n")
	require.Empty(t, s.ask(t, "reply_to_customer", updateReply).reply(t).Note)
}

// TestDegraded: Kitebase is down, which is no reason to take the server out of service. Hosts are not named.
func TestDegraded(t *testing.T) {
	t.Parallel()
	kitebase := startUpstream(t, fakeapi.Config{})
	s := startSiteWith(t, "--url", kitebase.url, "--breaker-threshold=2", "--attempts=1")
	kitebase.fault(t, "get_ticket=drop")
	kitebase.fault(t, "search_tickets=status=503")
	for range 2 {
		s.ask(t, "get_ticket", ticket142)
		s.ask(t, "search_tickets", `{"query":"sso"}`)
	}
	status, body := s.health("/readyz")
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, "degraded: Kitebase keeps failing, and most calls are refused of get_ticket, search_tickets\n", body)
}

// metrics returns a scrape.
func (s *site) metrics() string {
	s.t.Helper()
	return s.send(s.t, s.request(http.MethodGet, "/metrics", "")).body
}
