package main_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var monitoredAt = regexp.MustCompile(`"msg":"serving metrics","url":"(http://[^"]+)/metrics"`)

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

// TestMonitorWhileEnding: what is under way is finished, and nothing new should come.
func TestMonitorWhileEnding(t *testing.T) {
	t.Parallel()
	kitebase := startHeld(t)
	addr := strings.TrimPrefix(closedPort(t), "http://")
	s := startSiteWith(t, append(patient(kitebase.url), "--metrics-addr", addr)...)
	reply := s.later(s.call(statelessRevision, "reply_to_customer", updateReply))
	kitebase.arrived(1)
	s.signal()
	s.logged("shutting down")
	ready, metrics := fetch(t, "http://"+addr+"/readyz"), fetch(t, "http://"+addr+"/metrics")
	kitebase.release()
	require.Equal(t, "not ready\n", ready)
	require.Contains(t, metrics, `kitebase_mcp_calls_in_progress{tool="reply_to_customer"} 1`+"\n")
	require.False(t, (<-reply).result(t).reply(t).AlreadySent)
	s.wait()
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
