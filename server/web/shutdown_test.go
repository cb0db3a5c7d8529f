package web_test

import (
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server/web"
)

func TestShutdownFinishesCalls(t *testing.T) {
	d := openDesk(t, web.Config{})
	s := openSSE(t, d)
	listen, header := modern("subscriptions/listen", "", "5")
	subscription := d.do(t, "POST", "/mcp", listen, header...)
	responses := inBackground(func() *http.Response { return d.do(t, "POST", "/mcp", toolCall("1", "hang")) })
	s.post(t, toolCall("2", "hang"))
	<-d.started
	<-d.started

	d.end()
	require.Eventually(t, func() bool { return d.do(t, "GET", "/readyz", "").StatusCode == 503 }, patience, tick)
	for name, path := range map[string]string{"streamable": "/mcp", "sse": s.endpoint} {
		t.Run("a new call is refused/"+name, func(t *testing.T) {
			r := d.do(t, "POST", path, toolCall("3", "echo"))
			require.Equal(t, 503, r.StatusCode)
			require.Equal(t, "5", r.Header.Get("Retry-After"))
		})
	}
	t.Run("a new stream is refused", func(t *testing.T) {
		require.Equal(t, 503, openSSE(t, d).response.StatusCode)
	})
	require.Equal(t, 200, d.do(t, "GET", "/healthz", "").StatusCode)
	require.Empty(t, d.ended, "a call under way was cancelled")

	d.release <- struct{}{}
	d.release <- struct{}{}
	require.Contains(t, answer(t, <-responses), "released")
	require.Contains(t, s.next(t), "released")
	require.Empty(t, s.next(t), "the stream is over")
	_, err := io.Copy(io.Discard, subscription.Body)
	require.NoError(t, err, "the subscription ends cleanly")
	require.NoError(t, d.stop())
	require.EqualValues(t, 2, d.runs.Load())
	_, err = d.client.Get("http://" + d.addr + "/healthz")
	require.Error(t, err, "the listener is closed")
}

// The client has left, the handler has not noticed: a write that must still be recorded.
func TestShutdownWaitsForCallsOfClientsThatLeft(t *testing.T) {
	d := openDesk(t, web.Config{})
	s := openSSE(t, d)
	s.post(t, toolCall("1", "stubborn"))
	<-d.started
	s.leave()
	d.end()
	require.Eventually(t, func() bool { return d.do(t, "GET", "/readyz", "").StatusCode == 503 }, patience, tick)
	require.Empty(t, d.result, "Serve did not wait")
	d.release <- struct{}{}
	require.NoError(t, d.stop())
	require.Len(t, d.ended, 1)
}

func TestShutdownTellsCallsToStopAtLast(t *testing.T) {
	d := openDesk(t, web.Config{DrainTimeout: time.Millisecond})
	responses := inBackground(func() *http.Response { return d.do(t, "POST", "/mcp", toolCall("1", "hang")) })
	<-d.started
	require.ErrorContains(t, d.stop(), "after 1ms some requests were still under way and were told to stop: 1")
	require.Error(t, <-d.ended)
	r := <-responses
	require.Equal(t, 500, r.StatusCode, "never an empty success")
	require.Contains(t, answer(t, r), "check before you repeat it")
}
