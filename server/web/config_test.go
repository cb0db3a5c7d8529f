package web_test

import (
	"context"
	"errors"
	"net"
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

func TestReadiness(t *testing.T) {
	d := openDesk(t, web.Config{Ready: func(context.Context) error { return errors.New("secret upstream is down") }})
	r := d.do(t, "GET", "/readyz", "")
	require.Equal(t, 503, r.StatusCode)
	require.Equal(t, "not ready\n", answer(t, r))
	require.Contains(t, d.log.String(), "secret upstream is down")
	require.Equal(t, 200, d.do(t, "GET", "/healthz", "").StatusCode)
}
