package web_test

import (
	"bufio"
	"testing"

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

func requireInternalError(t *testing.T, body string) {
	t.Helper()
	require.Contains(t, body, `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"The server`)
	require.Contains(t, body, "check before you repeat it")
	require.NotContains(t, body, "secret")
}
