package web_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server/web"
)

// mcp-go files the calls of all clients without a session under the session "": a cancel for id 7 from anybody ended
// whichever call 7 came last, and the first call 7 to end made the other one impossible to cancel.
func TestNobodyCancelsAnotherClientsCall(t *testing.T) {
	modernCancel, modernHeader := modern("notifications/cancelled", "", "7")
	modernCancel = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,` + modernCancel[len(`{"jsonrpc":"2.0","id":7,"method":"notifications/cancelled","params":{`):]
	victim, victimHeader := modern("tools/call", "hang", "7")
	victims := map[string]struct {
		body   string
		header []string
	}{
		"modern":          {victim, victimHeader},
		"without session": {toolCall("7", "hang"), nil},
		"with a session":  {toolCall("7", "hang"), []string{"Mcp-Session-Id", "MINE"}},
	}
	attackers := map[string]struct {
		body   string
		header []string
	}{
		"modern":               {modernCancel, modernHeader},
		"without session":      {cancelled("7"), nil},
		"with another session": {cancelled("7"), []string{"Mcp-Session-Id", "THEIRS"}},
		"in a batch":           {"[" + cancelled("7") + "]", nil},
	}
	for victimName, v := range victims {
		for attackerName, a := range attackers {
			t.Run(victimName+" by "+attackerName, func(t *testing.T) {
				d := openDesk(t, web.Config{})
				responses := inBackground(func() *http.Response { return d.do(t, "POST", "/mcp", v.body, v.header...) })
				<-d.started
				require.Equal(t, 202, d.do(t, "POST", "/mcp", a.body, a.header...).StatusCode)
				d.release <- struct{}{}
				require.NoError(t, <-d.ended, "another client's cancel reached the call")
				require.Contains(t, answer(t, <-responses), "released")
			})
		}
	}
}

// Two clients often count their requests alike.
func TestSameIDAtOnce(t *testing.T) {
	d := openDesk(t, web.Config{})
	body, header := modern("tools/call", "hang", "7")
	first := inBackground(func() *http.Response { return d.do(t, "POST", "/mcp", body, header...) })
	second := inBackground(func() *http.Response { return d.do(t, "POST", "/mcp", body, header...) })
	<-d.started
	<-d.started
	d.release <- struct{}{}
	d.release <- struct{}{}
	require.Contains(t, answer(t, <-first), "released")
	require.Contains(t, answer(t, <-second), "released")
}

func TestCancelOfOnesOwn(t *testing.T) {
	t.Run("session", func(t *testing.T) {
		d := openDesk(t, web.Config{})
		responses := inBackground(func() *http.Response {
			return d.do(t, "POST", "/mcp", toolCall("7", "hang"), "Mcp-Session-Id", "MINE")
		})
		<-d.started
		d.do(t, "POST", "/mcp", cancelled("7"), "Mcp-Session-Id", "MINE")
		require.ErrorIs(t, <-d.ended, context.Canceled)
		<-responses
	})
	t.Run("sse: cancelled and never answered", func(t *testing.T) {
		d := openDesk(t, web.Config{})
		s, other := openSSE(t, d), openSSE(t, d)
		s.post(t, toolCall("7", "hang"))
		<-d.started
		other.post(t, cancelled("7"))
		s.post(t, cancelled(`"7"`)) // another id
		s.post(t, toolCall("8", "echo"))
		require.Contains(t, s.next(t), `"id":8`)
		require.Empty(t, d.ended, "another's cancel reached the call")
		s.post(t, cancelled("7"))
		require.ErrorIs(t, <-d.ended, context.Canceled)
		s.post(t, toolCall("9", "echo"))
		require.Contains(t, s.next(t), `"id":9`, "the cancelled call was answered")
	})
	t.Run("sse: an id under way is refused", func(t *testing.T) {
		d := openDesk(t, web.Config{})
		s := openSSE(t, d)
		s.post(t, toolCall("7", "hang"))
		<-d.started
		require.Equal(t, 400, s.post(t, toolCall("7", "echo")).StatusCode)
		require.EqualValues(t, 1, d.runs.Load())
		d.release <- struct{}{}
		require.Contains(t, s.next(t), "released")
		require.Equal(t, 202, s.post(t, toolCall("7", "echo")).StatusCode)
		require.Contains(t, s.next(t), `"text":"echo"`)
	})
}

// A subscription would count as a call that never ends, and hold up every shutdown.
func TestNoSubscriptionsOverSSE(t *testing.T) {
	listen, _ := modern("subscriptions/listen", "", "5")
	d := openDesk(t, web.Config{})
	require.Equal(t, 400, openSSE(t, d).post(t, listen).StatusCode)
}

// What the client has left is not worth a read; the guard carries writes on by itself.
func TestDisconnectEndsTheContext(t *testing.T) {
	t.Run("streamable", func(t *testing.T) {
		d := openDesk(t, web.Config{})
		ctx, leave := context.WithCancel(t.Context())
		gone := inBackground(func() error { return callWith(ctx, d, toolCall("1", "hang")) })
		<-d.started
		leave()
		require.ErrorIs(t, <-gone, context.Canceled)
		require.ErrorIs(t, <-d.ended, context.Canceled)
	})
	t.Run("sse", func(t *testing.T) {
		d := openDesk(t, web.Config{})
		s := openSSE(t, d)
		s.post(t, toolCall("1", "hang"))
		<-d.started
		s.leave()
		require.ErrorIs(t, <-d.ended, context.Canceled)
	})
}

// inBackground runs f beside the test, which reads its result from the channel.
func inBackground[T any](f func() T) <-chan T {
	result := make(chan T, 1)
	go func() { result <- f() }()
	return result
}

// A session id that another caller has learned is of no use to it: a call is filed under its caller too.
func TestNobodyCancelsByAStolenSessionID(t *testing.T) {
	keys := newKeyring(t)
	by := func(name string) []string { return append(keys.of(name), "Mcp-Session-Id", "STOLEN") }
	for _, test := range []struct {
		by   string
		ends bool
	}{{"omar", false}, {"priya", true}} {
		t.Run(test.by, func(t *testing.T) {
			d := openDesk(t, web.Config{TokensFile: keys.path, Tools: rights()})
			responses := inBackground(func() *http.Response { return d.do(t, "POST", "/mcp", toolCall("7", "hang"), by("priya")...) })
			<-d.started
			require.Equal(t, 202, d.do(t, "POST", "/mcp", cancelled("7"), by(test.by)...).StatusCode)
			if !test.ends {
				d.release <- struct{}{}
				require.NoError(t, <-d.ended)
				require.Contains(t, answer(t, <-responses), "released")
				return
			}
			require.Error(t, <-d.ended, "the caller itself may")
			<-responses
		})
	}
}
