package server_test

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/fakeapi"
	"github.com/kitebase/kitebase-mcp/server"
	"github.com/kitebase/kitebase-mcp/server/web"
)

// TestDeadlineRunsFromArrival: a call that was held up for 24s on its way to its guard has one second left of its 25.
// Counted from the guard, its answer could come after its host has given up.
func TestDeadlineRunsFromArrival(t *testing.T) {
	const params = `{"name":"get_ticket","arguments":` + readTicket + `}`
	for name, ask := range map[string]func(*testing.T, *server.Server) string{
		"stdio": func(t *testing.T, s *server.Server) string {
			var out bytes.Buffer
			require.NoError(t, s.ServeStdio(t.Context(), strings.NewReader(request("tools/call", params)), &out))
			return out.String()
		},
		"streamable HTTP": func(t *testing.T, s *server.Server) string {
			_, body := onSite(t, s).post("/mcp", "tools/call", params, nil)
			return body
		},
		"SSE": func(t *testing.T, s *server.Server) string {
			at := onSite(t, s)
			stream := at.do(t.Context(), http.MethodGet, "/sse", "", nil)
			t.Cleanup(func() { stream.Body.Close() })
			came := events(stream.Body)
			status, body := at.post(<-came, "tools/call", params, nil)
			require.Equal(t, http.StatusAccepted, status, body)
			return <-came
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fake, upstream := kitebase(t, fakeapi.Config{})
				faulty(t, fake, "get_ticket=hang")
				s, err := server.New(server.Config{URL: "http://kitebase.test", DialContext: upstream.dial})
				require.NoError(t, err)
				t.Cleanup(s.Close)
				s.Use(func(next mcpserver.ToolHandlerFunc) mcpserver.ToolHandlerFunc {
					return func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
						time.Sleep(24 * time.Second)
						return next(ctx, r)
					}
				})
				began := time.Now()
				answer := ask(t, s)
				require.Equal(t, 25*time.Second, time.Since(began))
				require.Contains(t, answer, "get_ticket failed after 1 try: no response after 1s")
			})
		})
	}
}

// onSite serves s over HTTP until the test ends.
func onSite(t *testing.T, s *server.Server) *site {
	t.Helper()
	listener := newPipeListener()
	at := &site{t: t, client: &http.Client{Transport: &http.Transport{DialContext: listener.dial}}}
	ctx, end := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.ServeHTTP(ctx, listener, web.Config{}) }()
	t.Cleanup(func() {
		at.client.CloseIdleConnections()
		end()
		require.NoError(t, <-served)
	})
	return at
}
