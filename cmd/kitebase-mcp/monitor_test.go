package main_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
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
	wire := startWire(t, address.Host)
	address.Host = wire.addr
	kitebase := startUpstream(t, fakeapi.Config{})
	s := startSiteWith(t, "--url", kitebase.url, "--ledger", address.String())
	s.becomes(http.StatusOK, "ok\n")
	wire.cut(true)
	s.becomes(http.StatusServiceUnavailable, "not ready\n")
	wire.cut(false)
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

// wire leads connections to another address, until it is cut.
type wire struct {
	addr string

	mu    sync.Mutex
	down  bool
	conns []net.Conn
}

func startWire(t *testing.T, to string) *wire {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	w := &wire{addr: listener.Addr().String()}
	var copying sync.WaitGroup
	copying.Go(func() {
		for {
			here, err := listener.Accept()
			if err != nil {
				return
			}
			there, err := net.Dial("tcp", to)
			if err != nil || !w.holds(here, there) {
				_ = here.Close()
				continue
			}
			for _, ends := range [][2]net.Conn{{here, there}, {there, here}} {
				copying.Go(func() {
					_, _ = io.Copy(ends[0], ends[1]) // ends when one of them is closed
					_, _ = ends[0].Close(), ends[1].Close()
				})
			}
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		w.cut(true)
		copying.Wait()
	})
	return w
}

// holds keeps the two ends of a connection, or reports that the wire is cut.
func (w *wire) holds(ends ...net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.conns = append(w.conns, ends...)
	if w.down {
		for _, end := range ends {
			_ = end.Close()
		}
	}
	return !w.down
}

func (w *wire) cut(down bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.down = down
	for _, end := range w.conns {
		if down {
			_ = end.Close()
		}
	}
}

var monitoredAt = regexp.MustCompile(`(?m)msg="serving metrics" url=(http://\S+)/metrics`)

// TestMonitorOfStdio: a server on stdio is watched at an address of its own. The second copy that a host starts finds the port
// taken, says so and serves.
func TestMonitorOfStdio(t *testing.T) {
	t.Parallel()
	addr := strings.TrimPrefix(closedPort(t), "http://")
	way := start{args: []string{"--metrics-addr", addr}}
	first := way.serve(t)
	require.False(t, first.call("get_ticket", ticket142).IsError)
	second := way.serve(t)
	require.False(t, second.call("get_ticket", ticket142).IsError)
	second.end()
	require.Contains(t, second.stderr.String(), "metrics are not served by this process")
	require.Contains(t, second.stderr.String(), "--metrics-addr")

	require.Contains(t, fetch(t, "http://"+addr+"/metrics"), `kitebase_mcp_calls_total{result="ok",tool="get_ticket"} 1`+"\n")
	require.Equal(t, "ok\n", fetch(t, "http://"+addr+"/healthz"))
	require.Equal(t, "ok\n", fetch(t, "http://"+addr+"/readyz"))
	first.end()
	require.Regexp(t, monitoredAt, first.stderr.String())
	_, err := net.Dial("tcp", addr)
	require.Error(t, err, "it ends with the server")
}

// TestMonitorOfHTTP: beside the HTTP transport, without its token. There a taken port ends the start.
func TestMonitorOfHTTP(t *testing.T) {
	t.Parallel()
	addr := strings.TrimPrefix(closedPort(t), "http://")
	s := startSiteWith(t, "--metrics-addr", addr)
	require.Contains(t, fetch(t, "http://"+addr+"/metrics"), "kitebase_mcp_build_info{")
	require.Contains(t, s.metrics(), "kitebase_mcp_build_info{")

	end := start{args: []string{"--transport=http", "--addr=127.0.0.1:0", "--metrics-addr", addr}}.run(t, "")
	require.Equal(t, 1, end.code)
	require.Contains(t, end.stderr, "--metrics-addr (KITEBASE_METRICS_ADDR)")
}

// fetch gets a page of this machine.
func fetch(t *testing.T, address string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(context.Background(), http.MethodGet, address, nil)
	require.NoError(t, err)
	transport := &http.Transport{DisableKeepAlives: true}
	response, err := transport.RoundTrip(request)
	require.NoError(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return string(body)
}
