package main_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSignalWhileServingHTTP: whoever orchestrates servers stops one by SIGTERM. What is under way is finished and answered;
// what is new is told to come back, by when there is another.
func TestSignalWhileServingHTTP(t *testing.T) {
	t.Parallel()
	kitebase := startHeld(t)
	s := startSite(t, kitebase.url)
	health := func(path string) int {
		r := s.request(http.MethodGet, path, "")
		r.Header.Del("Authorization")
		return s.send(t, r).status
	}
	require.Equal(t, http.StatusOK, health("/healthz"))
	require.Equal(t, http.StatusOK, health("/readyz"))
	events := s.openStream()
	events.post(toolCall("reply_to_customer", `{"ticket_id":"KITE-143","message":"By SSE"}`))
	reply := s.later(s.call(statelessRevision, "reply_to_customer", updateReply))
	kitebase.arrived(2)

	s.signal()
	s.logged("shutting down")
	require.Equal(t, http.StatusOK, health("/healthz"))
	require.Equal(t, http.StatusServiceUnavailable, health("/readyz"))
	const another = `{"ticket_id":"KITE-144","message":"Late"}`
	for name, late := range map[string]*http.Request{
		"2025-11-25": s.call(handshakeRevision, "reply_to_customer", another),
		"2026-07-28": s.call(statelessRevision, "reply_to_customer", another),
		"SSE":        s.request(http.MethodPost, events.path, toolCall("reply_to_customer", another)),
		"new stream": s.request(http.MethodGet, "/sse", ""),
	} {
		t.Run(name, func(t *testing.T) {
			got := s.send(t, late)
			require.Equal(t, http.StatusServiceUnavailable, got.status)
			require.Equal(t, "5", got.header.Get("Retry-After"))
			require.Contains(t, got.body, "Nothing was run.")
		})
	}
	kitebase.release()
	require.False(t, (<-reply).result(t).reply(t).AlreadySent)
	require.False(t, events.result().reply(t).AlreadySent)
	require.Empty(t, events.next(), "the stream goes on")
	s.wait()
	require.Len(t, kitebase.Outbox(), 2)
	require.Len(t, kitebase.emailsTo("KITE-142"), 1)
	require.Len(t, kitebase.emailsTo("KITE-143"), 1)
}
