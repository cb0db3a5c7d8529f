package main_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/fakeapi"
)

const updateReply = `{"ticket_id":"KITE-142","message":"Any update?"}`

// TestSameReplyAtOnce: some hosts have sent every call twice within 4 ms. Fifty at once are one email.
func TestSameReplyAtOnce(t *testing.T) {
	t.Parallel()
	// Kitebase ignores keys, so that nothing but the server can be what held the others back.
	for _, spec := range []string{"reply_to_customer=slow=100ms", "reply_to_customer=lose"} {
		t.Run(spec, func(t *testing.T) {
			t.Parallel()
			kitebase := startUpstream(t, fakeapi.Config{IgnoreKeys: true})
			kitebase.fault(t, spec)
			server := start{args: []string{"--url", kitebase.url, "--upstream-keys=false"}}.serve(t)

			var ids []string
			for range 50 {
				ids = append(ids, server.send("reply_to_customer", updateReply))
			}
			repeats := 0
			for _, id := range ids {
				r := server.await(id).result(t)
				reply := r.reply(t)
				require.Equal(t, "rpl_001", reply.ReplyID)
				require.Equal(t, reply.AlreadySent, r.Meta.Replayed)
				if reply.AlreadySent {
					repeats++
					require.NotEmpty(t, reply.Note)
					require.NotEmpty(t, reply.FirstSentAt)
					require.Zero(t, r.attempts(t))
				}
			}
			require.Equal(t, 49, repeats)
			require.Equal(t, []string{"rpl_001"}, kitebase.emailsTo("KITE-142"))
		})
	}
}

// TestDifferentRepliesAtOnce: the guard against repeats must not swallow what is no repeat.
func TestDifferentRepliesAtOnce(t *testing.T) {
	t.Parallel()
	kitebase := startUpstream(t, fakeapi.Config{})
	server := start{args: []string{"--url", kitebase.url}}.serve(t)
	var ids []string
	for i := range 20 {
		ids = append(ids, server.send("reply_to_customer", fmt.Sprintf(`{"ticket_id":"KITE-%d","message":"Part %d"}`, 142+i%2, i/2)))
	}
	seen := map[string]bool{}
	for _, id := range ids {
		reply := server.await(id).result(t).reply(t)
		require.False(t, reply.AlreadySent)
		seen[reply.ReplyID] = true
	}
	require.Len(t, seen, 20)
	require.Len(t, kitebase.Outbox(), 20)
}

// TestReplyAfterCustomerWrote: the same words answer a new question; a wanted reply once was swallowed in silence.
func TestReplyAfterCustomerWrote(t *testing.T) {
	t.Parallel()
	kitebase := startUpstream(t, fakeapi.Config{})
	server := start{args: []string{"--url", kitebase.url}}.serve(t)

	require.Equal(t, "rpl_001", server.call("reply_to_customer", updateReply).reply(t).ReplyID)
	require.NoError(t, kitebase.CustomerWrites("KITE-142", "Not yet."))
	again := server.call("reply_to_customer", updateReply).reply(t)
	require.Equal(t, "rpl_002", again.ReplyID)
	require.False(t, again.AlreadySent)
	require.True(t, server.call("reply_to_customer", updateReply).reply(t).AlreadySent)
	require.Equal(t, []string{"rpl_001", "rpl_002"}, kitebase.emailsTo("KITE-142"))
}

// TestCancelledReply: a host that cancels may not take the email back; the reply is finished, its id not answered, and the
// repeat is told the truth.
func TestCancelledReply(t *testing.T) {
	t.Parallel()
	kitebase := startUpstream(t, fakeapi.Config{})
	kitebase.fault(t, "reply_to_customer=slow=300ms:1")
	server := start{args: []string{"--url", kitebase.url}}.serve(t)

	id := server.send("reply_to_customer", updateReply)
	kitebase.arrived(1)
	server.write(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`+"\n", id))
	require.True(t, server.call("reply_to_customer", updateReply).reply(t).AlreadySent)
	require.Equal(t, []string{"rpl_001"}, kitebase.emailsTo("KITE-142"))
	server.end()
	for _, a := range server.received() {
		require.NotEqual(t, id, string(a.ID), "a cancelled request was answered")
	}
}

// TestKeysIgnored: the settings say that Kitebase honours keys, and it does not. The first lost answer costs a second
// email, which nothing could prevent; the server must find out, say so, and not try a reply twice again.
func TestKeysIgnored(t *testing.T) {
	t.Parallel()
	kitebase := startUpstream(t, fakeapi.Config{IgnoreKeys: true})
	server := start{args: []string{"--url", kitebase.url}}.serve(t)

	kitebase.fault(t, "reply_to_customer=lose:1")
	first := server.call("reply_to_customer", updateReply)
	require.Regexp(t, `more than once`, first.reply(t).Note, "whoever reads the result must know of the second email")
	require.Len(t, kitebase.emailsTo("KITE-142"), 2)

	kitebase.fault(t, "reply_to_customer=lose:1")
	server.call("reply_to_customer", `{"ticket_id":"KITE-143","message":"Any update?"}`)
	require.Len(t, kitebase.emailsTo("KITE-143"), 1)
	server.end()
	require.Regexp(t, `"level":"(WARN|ERROR)".*[Kk]ey`, server.stderr.String())
}

// TestSameReplyAfterRestart: a new process with an empty ledger. Kitebase still knows the key and sends nothing, which the
// result must say: a reply that is suppressed in silence is one that a person believes to be sent now.
func TestSameReplyAfterRestart(t *testing.T) {
	t.Parallel()
	kitebase := startUpstream(t, fakeapi.Config{})
	args := []string{"--url", kitebase.url, "--ledger=memory"}
	require.False(t, start{args: args}.serve(t).call("reply_to_customer", updateReply).reply(t).AlreadySent)
	again := start{args: args}.serve(t).call("reply_to_customer", updateReply).reply(t)
	require.Equal(t, []string{"rpl_001"}, kitebase.emailsTo("KITE-142"))
	require.Equal(t, "rpl_001", again.ReplyID)
	require.True(t, again.AlreadySent)
}
