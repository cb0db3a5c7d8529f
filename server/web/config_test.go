package web_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	mcpserver "github.com/mark3labs/mcp-go/server"
	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server/web"
)

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		name string
		cfg  web.Config
		says string // part of the error; "" for none
	}{
		{"zero value", web.Config{}, ""},
		{"localhost", web.Config{Addr: "localhost:0"}, ""},
		{"IPv6 loopback", web.Config{Addr: "[::1]:8090"}, ""},
		{"all interfaces with a token", web.Config{Addr: ":8090", Token: "t"}, ""},
		{"limits off", web.Config{MaxConnections: -1, MaxStreams: -1, MaxCalls: -1, BodyLimit: -1}, ""},
		{"all interfaces", web.Config{Addr: "0.0.0.0:8090"}, "--http-token"},
		{"all interfaces, short", web.Config{Addr: ":8090"}, "--http-token"},
		{"IPv6 all interfaces", web.Config{Addr: "[::]:8090"}, "--http-token"},
		{"a name", web.Config{Addr: "localhost.example.com:8090"}, "--http-token"},
		{"no port", web.Config{Addr: "127.0.0.1"}, "--addr"},
		{"token of two lines", web.Config{Token: "a\nb"}, "--http-token"},
		{"any origin", web.Config{AllowedOrigins: []string{"*"}}, "--allowed-origins"},
		{"wildcard origin", web.Config{AllowedOrigins: []string{"https://*.example.com"}}, "--allowed-origins"},
		{"origin with a path", web.Config{AllowedOrigins: []string{"https://desk.example.com/"}}, "--allowed-origins"},
		{"null origin", web.Config{AllowedOrigins: []string{"null"}}, "--allowed-origins"},
		{"more streams than connections", web.Config{MaxStreams: 10, MaxConnections: 10}, "limit of streams"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := web.New(mcpserver.NewMCPServer("desk", "1"), c.cfg)
			if c.says == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.says)
		})
	}
}

// What counts is where the listener is, not what the settings say.
func TestServeNeedsTokenBeyondLoopback(t *testing.T) {
	s, err := web.New(mcpserver.NewMCPServer("desk", "1"), web.Config{Addr: "127.0.0.1:0"})
	require.NoError(t, err)
	listener, err := net.Listen("tcp", "0.0.0.0:0")
	require.NoError(t, err)
	require.ErrorContains(t, s.Serve(t.Context(), listener), "--http-token")
	require.ErrorIs(t, listener.Close(), net.ErrClosed)
}

// TestReadiness: whoever asks needs no token, so what is told holds no more than it must. A check that comes every second is
// logged when its answer changes.
func TestReadiness(t *testing.T) {
	type readiness struct {
		degraded string
		err      error
	}
	var now atomic.Pointer[readiness]
	d := openDesk(t, web.Config{Ready: func(context.Context) (string, error) { return now.Load().degraded, now.Load().err }})
	check := func(status int, text string) {
		t.Helper()
		for range 2 {
			r := d.do(t, "GET", "/readyz", "")
			require.Equal(t, status, r.StatusCode)
			require.Equal(t, text+"\n", answer(t, r))
			require.Equal(t, 200, d.do(t, "GET", "/healthz", "").StatusCode)
		}
	}
	now.Store(&readiness{})
	check(200, "ok")
	now.Store(&readiness{degraded: "get_ticket is refused"})
	check(200, "degraded: get_ticket is refused")
	require.Empty(t, d.log.String())
	now.Store(&readiness{err: errors.New("secret upstream is down")})
	check(503, "not ready")
	now.Store(&readiness{})
	check(200, "ok")
	require.Equal(t, 1, strings.Count(d.log.String(), "secret upstream is down"))
	require.Equal(t, 1, strings.Count(d.log.String(), "ready again"))
}
