package main_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/fakeapi"
)

// patient lets a call wait for as long as a test needs.
func patient(kitebase string) []string {
	return []string{"--url", kitebase, "--attempt-timeout=1h", "--call-deadline=1h"}
}

// cancel takes a request back.
func (c *child) cancel(id string) {
	c.t.Helper()
	c.write(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`+"\n", id))
}

// answered returns the ids of what came so far, in order.
func (c *child) answered() []string {
	ids := []string{}
	for _, a := range c.received() {
		ids = append(ids, string(a.ID))
	}
	return ids
}

// TestHungCalls: mcp-go's loop has five workers, behind which everything else waited, cancels included.
func TestHungCalls(t *testing.T) {
	t.Parallel()
	kitebase := startUpstream(t, fakeapi.Config{})
	kitebase.fault(t, "search_help=hang")
	server := start{args: patient(kitebase.url)}.serve(t)
	var hung []string
	for range 30 {
		hung = append(hung, server.send("search_help", `{"query":"sso"}`))
	}
	kitebase.arrived(30)

	server.cancel(hung[0])
	kitebase.underWay(29)
	ping := server.request("ping", "{}")
	require.JSONEq(t, "{}", string(server.await(ping).Result))
	ticket := server.send("get_ticket", ticket142)
	require.False(t, server.await(ticket).result(t).IsError)

	for _, id := range hung[1:] {
		server.cancel(id)
	}
	server.end()
	require.Equal(t, []string{ping, ticket}, server.answered(), "a cancelled request was answered")
}

// TestCancelledBeforeItBegan: mcp-go lost the cancel of a call that was queued and sent the reply later.
func TestCancelledBeforeItBegan(t *testing.T) {
	t.Parallel()
	const places = 64 // of calls of one tool
	kitebase := startHeld(t)
	server := start{args: patient(kitebase.url)}.serve(t)
	reply := func(message string) (id string) {
		return server.send("reply_to_customer", fmt.Sprintf(`{"ticket_id":"KITE-142","message":%q}`, message))
	}
	var running []string
	for i := range places {
		running = append(running, reply(fmt.Sprintf("Part %d", i)))
	}
	kitebase.arrived(places)
	queued := reply("One too many")
	ping := server.request("ping", "{}")
	server.await(ping)

	server.cancel(queued)
	server.cancel(running[0]) // goes on to its end, and is not answered either
	server.await(server.request("ping", "{}"))
	kitebase.release()
	for _, id := range running[1:] {
		require.False(t, server.await(id).result(t).reply(t).AlreadySent)
	}
	server.end()
	require.Equal(t, places, kitebase.requestsOf("reply_to_customer", 0))
	require.Len(t, kitebase.emailsTo("KITE-142"), places)
	require.NotContains(t, server.answered(), queued)
	require.NotContains(t, server.answered(), running[0])
}
