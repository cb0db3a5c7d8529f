package web_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server/web"
)

// FuzzPost states: whatever is posted to /mcp, the tool runs only for a JSON body of a permitted size from a local Host and no
// foreign Origin, at most once for each message, and every answer is JSON-RPC or empty.
func FuzzPost(f *testing.F) {
	for _, seed := range [][4]string{
		{"127.0.0.1:8090", "", "application/json", toolCall("1", "echo")},
		{"localhost", "http://localhost", "application/json; charset=utf-8", `{"jsonrpc":"2.0","id":"a","method":"ping"}`},
		{"[::1]:1", "https://desk.example.com", "application/json", "[" + toolCall("1", "echo") + "]"},
		{"evil.example", "null", "text/plain", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`},
		{"127.0.0.1.evil.example", "http://127.0.0.1@evil.example", "application/json", `{"id":1,"id":null,"ID":[],"method":"tools/call"`},
		{"localhost", "HTTPS://DESK.EXAMPLE.COM:443", "application/json", strings.Repeat("[", 300)},
	} {
		f.Add(seed[0], seed[1], seed[2], seed[3])
	}
	var runs atomic.Int64
	m := mcpserver.NewMCPServer("desk", "1", mcpserver.WithToolCapabilities(true))
	m.AddTool(mcp.NewTool("echo"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		runs.Add(1)
		return mcp.NewToolResultText("echo"), nil
	})
	const limit = 400
	server, err := web.New(m, web.Config{Addr: "127.0.0.1:8090", BodyLimit: limit, AllowedOrigins: []string{"https://desk.example.com"}})
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, host, origin, kind, body string) {
		request := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(body))
		request.Host = host
		request.Header.Set("Content-Type", kind)
		if origin != "" {
			request.Header.Set("Origin", origin)
		}
		runs.Store(0)
		w := httptest.NewRecorder()
		server.Handler().ServeHTTP(w, request)
		requireMayRun(t, int(runs.Load()), host, origin, kind, body, limit)
		requireReadable(t, w)
	})
}

// requireMayRun holds runs of the tool against a reading of the request that is as simple as it can be.
func requireMayRun(t *testing.T, runs int, host, origin, kind, body string, limit int) {
	t.Helper()
	if runs == 0 {
		return
	}
	var batch []json.RawMessage
	if json.Unmarshal([]byte(body), &batch) != nil {
		batch = make([]json.RawMessage, 1)
	}
	require.LessOrEqual(t, runs, len(batch))
	require.LessOrEqual(t, len(body), limit)
	require.True(t, json.Valid([]byte(body)), body)
	require.True(t, strings.HasPrefix(strings.ToLower(strings.TrimSpace(kind)), "application/json"), kind)
	require.True(t, namesLoopback(host), "host %q", host)
	page, err := url.Parse(strings.ToLower(origin))
	require.NoError(t, err)
	require.True(t, origin == "" || page.Host == "desk.example.com" || page.Host == "desk.example.com:443" ||
		strings.TrimSuffix(page.Host, ":80") == strings.ToLower(strings.TrimSuffix(host, ":80")) ||
		strings.TrimSuffix(page.Host, ":443") == strings.ToLower(host), "origin %q at host %q", origin, host)
}

// namesLoopback takes the port, which may be anything, for what stands behind the first colon that is not the address's own.
func namesLoopback(host string) bool {
	name, _, _ := strings.Cut(host, ":")
	if inner, bracketed := strings.CutPrefix(host, "["); bracketed {
		name, _, _ = strings.Cut(inner, "]")
	}
	for _, name := range []string{name, host} { // an address of IPv6 may come without brackets
		if address, err := netip.ParseAddr(name); strings.EqualFold(name, "localhost") || err == nil && address.IsLoopback() {
			return true
		}
	}
	return false
}

// requireReadable shows that a client can make something of an answer.
func requireReadable(t *testing.T, w *httptest.ResponseRecorder) {
	t.Helper()
	require.Less(t, w.Code, 500, w.Body)
	if w.Body.Len() == 0 {
		return
	}
	text := w.Body.String()
	if strings.HasPrefix(w.Header().Get("Content-Type"), "text/event-stream") {
		_, text, _ = strings.Cut(text, "data: ")
	}
	type message struct {
		JSONRPC       string
		Result, Error json.RawMessage
	}
	var all []message
	if json.Unmarshal([]byte(text), &all) != nil {
		all = make([]message, 1)
		require.NoError(t, json.Unmarshal([]byte(text), &all[0]), text)
	}
	for _, m := range all {
		require.Equal(t, "2.0", m.JSONRPC)
		require.True(t, m.Result != nil || m.Error != nil, text)
	}
}
