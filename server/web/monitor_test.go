package web_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server/web"
)

// counted stands for the metrics of a server.
var counted = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "calls_total 3\n") })

// TestMetricsBehindTheFence: what is counted is for those who may call.
func TestMetricsBehindTheFence(t *testing.T) {
	d := openDesk(t, web.Config{Token: "t", Metrics: counted})
	for name, c := range map[string]struct {
		method string
		header []string
		status int
		body   string
	}{
		"with the token": {"GET", []string{"Authorization", "Bearer t"}, 200, "calls_total 3\n"},
		"no token":       {"GET", nil, 401, "needs a token"},
		"a web page":     {"GET", []string{"Authorization", "Bearer t", "Origin", "https://evil.example"}, 403, "origin"},
		"another host":   {"GET", []string{"Authorization", "Bearer t", "Host", "evil.example"}, 403, "localhost only"},
		"a POST":         {"POST", []string{"Authorization", "Bearer t"}, 405, "GET only"},
	} {
		t.Run(name, func(t *testing.T) {
			r := d.do(t, c.method, "/metrics", "", c.header...)
			require.Equal(t, c.status, r.StatusCode)
			require.Contains(t, answer(t, r), c.body)
		})
	}
	t.Run("off", func(t *testing.T) {
		require.Equal(t, 404, openDesk(t, web.Config{}).do(t, "GET", "/metrics", "").StatusCode)
	})
}

func TestMonitor(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, end := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- web.ServeMonitor(ctx, listener, web.Config{Metrics: counted, Ready: func(context.Context) (string, error) {
			return "get_ticket is refused", nil
		}})
	}()
	d := &desk{addr: listener.Addr().String(), client: &http.Client{Transport: new(http.Transport)}}
	for name, c := range map[string]struct {
		method, path string
		header       []string
		status       int
		body         string
	}{
		"metrics":      {"GET", "/metrics", nil, 200, "calls_total 3\n"},
		"alive":        {"GET", "/healthz", nil, 200, "ok\n"},
		"ready":        {"GET", "/readyz", nil, 200, "degraded: get_ticket is refused\n"},
		"localhost":    {"GET", "/metrics", []string{"Host", "localhost:9464"}, 200, "calls_total 3\n"},
		"no calls":     {"GET", "/mcp", nil, 404, "nothing at this path"},
		"a POST":       {"POST", "/metrics", nil, 405, "GET only"},
		"a web page":   {"GET", "/metrics", []string{"Origin", "https://evil.example"}, 403, "localhost only"},
		"another host": {"GET", "/readyz", []string{"Host", "evil.example"}, 403, "localhost only"},
	} {
		t.Run(name, func(t *testing.T) {
			r := d.do(t, c.method, c.path, "", c.header...)
			require.Equal(t, c.status, r.StatusCode)
			require.Contains(t, answer(t, r), c.body)
		})
	}
	d.client.CloseIdleConnections()
	end()
	require.NoError(t, <-ended)
	require.ErrorIs(t, listener.Close(), net.ErrClosed)
}

// TestMonitorIsForThisMachine: it asks for no token.
func TestMonitorIsForThisMachine(t *testing.T) {
	listener, err := net.Listen("tcp", "0.0.0.0:0")
	require.NoError(t, err)
	err = web.ServeMonitor(t.Context(), listener, web.Config{})
	require.ErrorContains(t, err, "only this machine")
	require.ErrorIs(t, listener.Close(), net.ErrClosed)
	for addr, says := range map[string]string{
		"127.0.0.1:0": "", "localhost:9464": "", "[::1]:9464": "",
		"0.0.0.0:9464": "only this machine", ":9464": "only this machine", "desk.example.com:9464": "only this machine", "9464": "host:port",
	} {
		if says == "" {
			require.NoError(t, web.ValidateMonitorAddr(addr))
			continue
		}
		require.ErrorContains(t, web.ValidateMonitorAddr(addr), says)
		require.False(t, strings.Contains(web.ValidateMonitorAddr(addr).Error(), "\n"))
	}
}
