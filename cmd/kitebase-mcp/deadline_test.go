package main_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/fakeapi"
)

// TestCallersDeadline: a caller says how long it will still wait. It gets its answer by then, not after the time of an
// attempt, which is 5s.
func TestCallersDeadline(t *testing.T) {
	t.Parallel()
	kitebase := startUpstream(t, fakeapi.Config{})
	kitebase.fault(t, "*=hang")
	server := start{args: []string{"--url", kitebase.url}}.serve(t)
	schemas := outputSchemas(t, server)
	call := func(tool, arguments string, ms int) result {
		params := fmt.Sprintf(`{"name":%q,"arguments":%s,"_meta":{"io.kitebase/deadline-ms":%d}}`, tool, arguments, ms)
		r := server.await(server.request("tools/call", params)).result(t)
		schemas.check(t, tool, r)
		require.Equal(t, "timeout", r.kind(), r.text())
		return r
	}
	t.Run("a read", func(t *testing.T) {
		r := call("get_ticket", `{"ticket_id":"KITE-142"}`, 400)
		require.Regexp(t, `failed after 1 try: no response after 0\.[0-4]\d*s \(TimeoutError\)`, r.text())
	})
	t.Run("a reply that went out", func(t *testing.T) {
		r := call("reply_to_customer", updateReply, 400)
		require.Regexp(t, `failed after 1 try: no response after 0\.[0-4]\d*s \(TimeoutError\).* may have gone through`, r.text())
		requireTrue(t, r, kitebase.emailsTo("KITE-142"))
	})
	t.Run("no time left", func(t *testing.T) {
		before := len(kitebase.Requests())
		r := call("reply_to_customer", `{"ticket_id":"KITE-143","message":"Hello"}`, 0)
		require.Contains(t, r.text(), "reply_to_customer was not run")
		require.Equal(t, "not_done", r.Meta.Error.Outcome)
		require.Len(t, kitebase.Requests(), before)
	})
}
