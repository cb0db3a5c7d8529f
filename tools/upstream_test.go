package tools_test

import (
	"context"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/tools"
	"github.com/kitebase/kitebase-mcp/tools/kitebase"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// upstream is a Kitebase that gives one answer to everything and remembers what it was asked.
type upstream struct {
	status int
	header map[string]string
	body   string

	requests []string // method, path with query, body
	keys     []string
}

func (u *upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	line := r.Method + " " + r.URL.RequestURI()
	if len(body) > 0 {
		line += " " + string(body)
	}
	u.requests = append(u.requests, line)
	u.keys = append(u.keys, r.Header.Get("Idempotency-Key"))
	w.Header().Set("Content-Type", "application/json")
	for name, value := range u.header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(u.status)
	_, _ = io.WriteString(w, u.body)
}

// client returns a client of u, whose calls must not overlap.
func (u *upstream) client(t testing.TB) *kitebase.Client {
	server := httptest.NewServer(u)
	t.Cleanup(server.Close)
	client, err := kitebase.New(kitebase.Config{BaseURL: server.URL})
	require.NoError(t, err)
	t.Cleanup(client.Close)
	return client
}

// answering is an upstream that succeeds with body.
func answering(status int, body string) *upstream { return &upstream{status: status, body: body} }

// call calls a tool as mcp-go does for a request that came over the wire.
func call(client *kitebase.Client, name, arguments string) (*mcp.CallToolResult, error) {
	return tool(client, name).Handle(context.Background(), wireRequest(arguments))
}

func tool(client *kitebase.Client, name string) tools.Tool {
	for _, tool := range tools.Table(client) {
		if tool.Name == name {
			return tool
		}
	}
	panic("no tool " + name)
}

func wireRequest(arguments string) mcp.CallToolRequest {
	var request mcp.CallToolRequest
	request.Params.RawArguments = json.RawMessage(arguments)
	return request
}

func textOf(t testing.TB, result *mcp.CallToolResult) string {
	require.Len(t, result.Content, 1)
	text, ok := result.Content[0].(mcp.TextContent)
	require.True(t, ok, "the content is text")
	return text.Text
}
