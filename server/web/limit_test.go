package web_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server/web"
)

// callWith posts to /mcp and returns what went wrong.
func callWith(ctx context.Context, d *desk, body string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+d.addr+"/mcp", strings.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	response, err := d.client.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	got, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d: %s", response.StatusCode, got)
	}
	return err
}

func TestMaxCalls(t *testing.T) {
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	d := openDesk(t, web.Config{MaxCalls: 2})
	s := openSSE(t, d)
	first := inBackground(func() error { return callWith(t.Context(), d, toolCall("1", "hang")) })
	s.post(t, toolCall("2", "hang"))
	<-d.started
	<-d.started
	for name, path := range map[string]string{"streamable": "/mcp", "sse": s.endpoint} {
		t.Run(name, func(t *testing.T) {
			r := d.do(t, "POST", path, toolCall("3", "echo"))
			require.Equal(t, 503, r.StatusCode)
			require.Equal(t, "1", r.Header.Get("Retry-After"))
			require.Contains(t, answer(t, r), `"id":3,"error":{"code":-32000,"message":"The server is busy: 2 calls are under way. Nothing was run.`)
			require.Less(t, d.do(t, "POST", path, ping).StatusCode, 300, "a ping must not wait for calls")
		})
	}
	require.Contains(t, s.next(t), `"result":{}`)
	d.release <- struct{}{}
	d.release <- struct{}{}
	require.NoError(t, <-first)
	require.Contains(t, s.next(t), "released")
	require.NoError(t, callWith(t.Context(), d, toolCall("4", "echo")), "the slots are free again")
}

func TestMaxStreams(t *testing.T) {
	d := openDesk(t, web.Config{MaxStreams: 2})
	first := openSSE(t, d)
	listen, header := modern("subscriptions/listen", "", "5")
	second := d.do(t, "POST", "/mcp", listen, header...)
	require.Equal(t, 200, second.StatusCode)
	line, err := bufio.NewReader(second.Body).ReadString('}')
	require.NoError(t, err)
	require.Contains(t, line, "acknowledged")

	third := openSSE(t, d).response
	require.Equal(t, 503, third.StatusCode)
	require.Equal(t, "1", third.Header.Get("Retry-After"))
	require.Equal(t, 503, d.do(t, "POST", "/mcp", listen, header...).StatusCode)
	require.NoError(t, callWith(t.Context(), d, toolCall("1", "echo")), "calls need no stream")

	first.leave()
	require.Eventually(t, func() bool { return openSSE(t, d).response.StatusCode == 200 }, patience, tick)
}

// Beyond the limit a connection gets an answer rather than a queue, and health checks go through.
func TestMaxConnections(t *testing.T) {
	d := openDesk(t, web.Config{MaxConnections: 2, MaxStreams: 1})
	var idle []net.Conn
	for range 2 {
		c, err := net.Dial("tcp", d.addr)
		require.NoError(t, err)
		idle = append(idle, c)
		_, err = io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
		require.NoError(t, err)
		_, err = http.ReadResponse(bufio.NewReader(c), nil)
		require.NoError(t, err)
	}
	r := d.do(t, "POST", "/mcp", toolCall("1", "echo"))
	require.Equal(t, 503, r.StatusCode)
	require.True(t, r.Close)
	require.Zero(t, d.runs.Load())
	require.Equal(t, 200, d.do(t, "GET", "/healthz", "").StatusCode)
	d.client.CloseIdleConnections()
	for _, c := range idle {
		require.NoError(t, c.Close())
	}
	require.Eventually(t, func() bool { return callWith(t.Context(), d, toolCall("1", "echo")) == nil }, patience, tick)
}

func TestSixtyFourConnections(t *testing.T) {
	d := openDesk(t, web.Config{})
	var clients sync.WaitGroup
	failures := make(chan error, 64)
	for range 64 {
		clients.Go(func() {
			for i := range 10 {
				if err := callWith(t.Context(), d, toolCall(fmt.Sprint(i), "echo")); err != nil {
					failures <- err
					return
				}
			}
		})
	}
	clients.Wait()
	require.Empty(t, failures)
	require.EqualValues(t, 640, d.runs.Load())
}
