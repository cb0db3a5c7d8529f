package web_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server/web"
)

// Revision 2025-03-26 asks servers to take batches; 2025-06-18 has dropped them.
func TestBatch(t *testing.T) {
	const initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	d := openDesk(t, web.Config{})
	for name, c := range map[string]struct {
		body   string
		header []string
		status int
		says   []string
	}{
		"requests and a notification": {"[" + toolCall("1", "echo") + "," + initialized + "," + toolCall(`"b"`, "echo") + "]",
			nil, 200, []string{`[{"jsonrpc":"2.0","id":1,"result"`, `{"jsonrpc":"2.0","id":"b","result"`}},
		"a batch of one, by header": {"[" + toolCall("1", "echo") + "]", []string{"Mcp-Protocol-Version", "2025-03-26"}, 200, []string{`[{`}},
		"notifications only":        {"[" + initialized + "]", nil, 202, nil},
		"one part is wrong": {`[7,` + toolCall("1", "echo") + `]`, nil, 200,
			[]string{`[{"jsonrpc":"2.0","id":null,"error":{"code":-32600`, `"id":1,"result"`}},
		"initialize": {`[{"jsonrpc":"2.0","id":1,"method":"initialize"}]`, nil, 200, []string{`"id":1,"error":{"code":-32600`}},
		"a subscription": {`[{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"a:b"}}]`, nil, 200,
			[]string{`"id":1,"error":{"code":-32600`}},
		"too many":   {"[0" + strings.Repeat(",0", 100) + "]", nil, 400, []string{"-32600"}},
		"empty":      {"[]", nil, 400, []string{"-32600"}},
		"no JSON":    {"[" + toolCall("1", "echo") + ",", nil, 400, []string{"-32700"}},
		"2025-06-18": {"[" + toolCall("1", "echo") + "]", []string{"Mcp-Protocol-Version", "2025-06-18"}, 400, []string{"-32600"}},
		"2026-07-28": {"[" + toolCall("1", "echo") + "]", []string{"Mcp-Protocol-Version", "2026-07-28"}, 400, []string{"-32600"}},
	} {
		t.Run(name, func(t *testing.T) {
			runs := d.runs.Load()
			r := d.do(t, "POST", "/mcp", c.body, c.header...)
			require.Equal(t, c.status, r.StatusCode)
			got := answer(t, r)
			for _, says := range c.says {
				require.Contains(t, got, says)
			}
			wantRuns := 0
			if c.status == http.StatusOK {
				wantRuns = strings.Count(c.body, "echo")
			}
			require.EqualValues(t, wantRuns, d.runs.Load()-runs)
		})
	}
	t.Run("over SSE", func(t *testing.T) {
		require.Equal(t, 400, openSSE(t, d).post(t, "["+toolCall("1", "echo")+"]").StatusCode)
	})
}

// The calls of a batch count like others.
func TestBatchBeyondTheLimit(t *testing.T) {
	inBubble(t, web.Config{MaxCalls: 2}, func(t *testing.T, d *desk, _ *pipes, _ func() time.Duration) {
		batch := "[" + toolCall("1", "hang") + "," + toolCall("2", "hang") + "," + toolCall("3", "hang") + "]"
		responses := inBackground(func() *http.Response { return d.do(t, "POST", "/mcp", batch) })
		<-d.started
		<-d.started
		synctest.Wait() // until the third has been refused: released earlier, the others would make room for it
		d.release <- struct{}{}
		d.release <- struct{}{}
		got := answer(t, <-responses)
		require.Equal(t, 2, strings.Count(got, "released"))
		require.Contains(t, got, `{"jsonrpc":"2.0","id":3,"error":{"code":-32000,"message":"The server is busy`)
	})
}
