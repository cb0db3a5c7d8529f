package web_test

import (
	"bufio"
	"context"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server/web"
)

// mcp-go drops the connection on a panic over streamable HTTP, tells its text over SSE, and answers a result that cannot
// be marshalled with an empty 200.
func TestFailures(t *testing.T) {
	for _, tool := range []string{"panic", "broken"} {
		t.Run(tool, func(t *testing.T) {
			d := openDesk(t, web.Config{})
			s := openSSE(t, d)
			r := d.do(t, "POST", "/mcp", toolCall("1", tool))
			require.Equal(t, 500, r.StatusCode)
			requireInternalError(t, answer(t, r))
			s.post(t, toolCall("1", tool))
			requireInternalError(t, s.next(t))
			requireInternalError(t, answer(t, d.do(t, "POST", "/mcp", "["+toolCall("1", tool)+"]")))

			require.Contains(t, answer(t, d.do(t, "POST", "/mcp", toolCall("2", "echo"))), `"text":"echo"`)
			s.post(t, toolCall("2", "echo"))
			require.Contains(t, s.next(t), `"text":"echo"`)
		})
	}
}

// The status went out with the progress, so that the answer must be an event.
func TestPanicOnAStream(t *testing.T) {
	d := openDesk(t, web.Config{})
	s := &sse{lines: bufio.NewScanner(d.do(t, "POST", "/mcp", toolCall("1", "late panic")).Body)}
	require.Contains(t, s.next(t), "notifications/progress")
	d.release <- struct{}{}
	requireInternalError(t, s.next(t))
	require.Empty(t, s.next(t))
}

// mcp-go ends such a stream without a word.
func TestBrokenOnAStream(t *testing.T) {
	m := mcpserver.NewMCPServer("desk", "1")
	m.AddTool(mcp.NewTool("late broken"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		err := m.SendNotificationToClient(ctx, "notifications/progress", map[string]any{"progressToken": "t", "progress": 1})
		return &mcp.CallToolResult{StructuredContent: func() {}}, err
	})
	s, err := web.New(m, web.Config{})
	require.NoError(t, err)
	r := httptest.NewRequest("POST", "http://localhost/mcp", strings.NewReader(toolCall("1", "late broken")))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	progress, end, _ := strings.Cut(w.Body.String(), "\n\n")
	require.Contains(t, progress, "notifications/progress")
	requireInternalError(t, end)
}

func TestFailuresOutsideOfToolsAreLogged(t *testing.T) {
	const line, quoted = "request failed outside of its tool", "secret-of-the-client"
	newest, header := modern("tools/call", quoted, "2")
	for name, post := range map[string]struct {
		body   string
		header []string
	}{"directly": {toolCall("1", quoted), nil}, "by mcp-go": {newest, header}} {
		t.Run(name, func(t *testing.T) {
			d := openDesk(t, web.Config{})
			require.Contains(t, answer(t, d.do(t, "POST", "/mcp", post.body, post.header...)), `not found"`, "mcp-go adds a word of Go")
			require.Contains(t, d.log.String(), line)
			require.NotContains(t, d.log.String(), quoted)
		})
	}
}

func requireInternalError(t *testing.T, body string) {
	t.Helper()
	require.Contains(t, body, `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"The server`)
	require.Contains(t, body, "check before you repeat it")
	require.NotContains(t, body, "secret")
}
