package main_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/fakeapi"
)

// TestRefusedOverHTTP: hosts repeat any call after a 401, and web pages can reach servers on loopback. What is refused must
// be refused before Kitebase hears of it.
func TestRefusedOverHTTP(t *testing.T) {
	t.Parallel()
	kitebase := startUpstream(t, fakeapi.Config{})
	s := startSite(t, kitebase.url)
	session := s.openStream()
	reply := toolCall("reply_to_customer", updateReply)
	set := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	for name, c := range map[string]struct {
		change func(*http.Request)
		pad    int // bytes that the body is longer
		status int
	}{
		"no token":       {set("Authorization", ""), 0, http.StatusUnauthorized},
		"wrong token":    {set("Authorization", "Bearer tok-htt"), 0, http.StatusUnauthorized},
		"foreign origin": {set("Origin", "https://evil.example"), 0, http.StatusForbidden},
		"foreign host":   {func(r *http.Request) { r.Host = "evil.example" }, 0, http.StatusForbidden},
		"text/plain":     {set("Content-Type", "text/plain"), 0, http.StatusUnsupportedMediaType},
		"body of 2 MiB":  {func(*http.Request) {}, 2 << 20, http.StatusRequestEntityTooLarge},
	} {
		requests := map[string]*http.Request{
			"/mcp":     s.request(http.MethodPost, "/mcp", strings.Repeat(" ", c.pad)+reply),
			"/message": s.request(http.MethodPost, session.path, strings.Repeat(" ", c.pad)+reply),
		}
		if c.status == http.StatusUnauthorized || c.status == http.StatusForbidden {
			requests["/sse"] = s.request(http.MethodGet, "/sse", "")
		}
		for path, r := range requests {
			t.Run(name+" "+path, func(t *testing.T) {
				c.change(r)
				got := s.send(t, r)
				require.Equal(t, c.status, got.status, got.body)
				require.Equal(t, c.status == http.StatusUnauthorized, strings.HasPrefix(got.header.Get("WWW-Authenticate"), "Bearer "))
				require.Empty(t, got.header.Get("Access-Control-Allow-Origin"))
			})
		}
	}
	require.Empty(t, kitebase.Requests())

	// The same without what was wrong.
	require.False(t, s.send(t, s.request(http.MethodPost, "/mcp", reply)).result(t).reply(t).AlreadySent)
	session.post(reply)
	require.True(t, session.result().reply(t).AlreadySent)
	require.Equal(t, []string{"rpl_001"}, kitebase.emailsTo("KITE-142"))
}

// TestForeignCancelOverHTTP: clients count their requests alike, and mcp-go took any client's cancel for request 7 to be
// meant for every other's.
func TestForeignCancelOverHTTP(t *testing.T) {
	t.Parallel()
	kitebase := startHeld(t)
	s := startSite(t, kitebase.url)
	inSession := s.call(handshakeRevision, "get_ticket", ticket142)
	inSession.Header.Set("Mcp-Session-Id", "MINE")
	waiting := map[string]<-chan served{
		"2025-11-25, with a session":    s.later(inSession),
		"2025-11-25, without a session": s.later(s.call(handshakeRevision, "get_ticket", ticket142)),
		"2026-07-28":                    s.later(s.call(statelessRevision, "get_ticket", ticket142)),
	}
	bySSE := s.openStream()
	bySSE.post(toolCall("get_ticket", ticket142))
	kitebase.arrived(4)

	const cancel = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`
	s.openStream().post(cancel)
	for name, header := range map[string]map[string]string{
		"without a session":    {"Mcp-Protocol-Version": handshakeRevision},
		"with another session": {"Mcp-Protocol-Version": handshakeRevision, "Mcp-Session-Id": "THEIRS"},
		"2026-07-28":           {"Mcp-Protocol-Version": statelessRevision, "Mcp-Method": "notifications/cancelled"},
	} {
		t.Run("cancel "+name, func(t *testing.T) {
			body := cancel
			if header["Mcp-Protocol-Version"] == statelessRevision {
				body = stateless(cancel)
			}
			r := s.request(http.MethodPost, "/mcp", body)
			for key, value := range header {
				r.Header.Set(key, value)
			}
			require.Equal(t, http.StatusAccepted, s.send(t, r).status)
		})
	}
	kitebase.release()
	for name, answer := range waiting {
		t.Run(name, func(t *testing.T) {
			require.Contains(t, (<-answer).result(t).text(), "Northwind Studio")
		})
	}
	require.Contains(t, bySSE.result().text(), "Northwind Studio")
}
