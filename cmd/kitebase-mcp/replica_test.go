package main_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/require"
)

// TestReplicasShareClients: no client belongs to a replica. What one was asked first, another may be asked next.
func TestReplicasShareClients(t *testing.T) {
	t.Parallel()
	t.Run("initialize on one, call on the other", func(t *testing.T) {
		t.Parallel()
		f := newFleet(t, 2, false)
		hello := f.front.send(t, f.front.request(http.MethodPost, "/mcp",
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`))
		require.Equal(t, http.StatusOK, hello.status, hello.body)
		for range 4 {
			r := f.front.reply(handshakeRevision, crashText)
			r.Header.Set("Mcp-Session-Id", hello.header.Get("Mcp-Session-Id"))
			require.Equal(t, "rpl_001", f.front.send(t, r).result(t).reply(t).ReplyID)
		}
		require.Equal(t, []int{3, 2}, f.balancer.counts())
		require.Equal(t, []string{"rpl_001"}, f.kitebase.emailsTo(crashTicket))
	})
	for revision, options := range map[string][]client.ClientOption{
		//lint:ignore SA1019 hosts still speak the older revision, so it is tested for as long as mcp-go can
		"2026-07-28": nil, "2025-11-25": {client.WithLegacyProtocolOnly()},
	} {
		t.Run("mcp-go's client "+revision, func(t *testing.T) {
			t.Parallel()
			f := newFleet(t, 3, false)
			over, err := transport.NewStreamableHTTP(f.front.url+"/mcp", transport.WithHTTPBasicClient(noKeepAlive()),
				transport.WithHTTPHeaders(map[string]string{"Authorization": "Bearer tok-http"}))
			require.NoError(t, err)
			c := startClient(t, over, options)
			_, err = c.Initialize(t.Context(), mcp.InitializeRequest{})
			require.NoError(t, err)
			require.Equal(t, revision, c.ProtocolVersion())
			useAllTools(t, c)
			require.Equal(t, []string{"rpl_001"}, f.kitebase.emailsTo("KITE-142"))
			for i, n := range f.balancer.counts() {
				require.Positive(t, n, "replica %d was never asked", i)
			}
		})
	}
}

// TestReplicasOneReply: 100 times the same reply at once, handed out in turn.
func TestReplicasOneReply(t *testing.T) {
	t.Parallel()
	for _, replicas := range []int{2, 3} {
		t.Run(fmt.Sprint(replicas), func(t *testing.T) {
			t.Parallel()
			f := newFleet(t, replicas, false)
			f.kitebase.fault(t, "reply_to_customer=slow=100ms")
			var answers []<-chan served
			for i := range 100 {
				revision := []string{handshakeRevision, statelessRevision}[i%2]
				answers = append(answers, f.front.later(f.front.reply(revision, crashText)))
			}
			fresh := 0
			for _, answer := range answers {
				reply := (<-answer).result(t).reply(t)
				require.Equal(t, "rpl_001", reply.ReplyID)
				if !reply.AlreadySent {
					fresh++
				}
			}
			require.Equal(t, 1, fresh)
			require.EqualValues(t, 1, f.gate.replies.Load())
			require.Equal(t, []string{"rpl_001"}, f.kitebase.emailsTo(crashTicket))
			require.Equal(t, "done", f.only(t).State)
			for _, n := range f.balancer.counts() {
				require.InDelta(t, 100/replicas, n, 1)
			}
		})
	}
}

// TestReplicasDisconnect: a client leaves 50 ms into a reply and asks again, of the other replica. The first one works on.
func TestReplicasDisconnect(t *testing.T) {
	t.Parallel()
	for _, fault := range []string{"slow=300ms", "hang", "lose"} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			eachUpstream(t, func(t *testing.T, keys bool) {
				eachRevision(t, func(t *testing.T, revision string) {
					f := newFleet(t, 2, keys, "--attempt-timeout=5s")
					f.kitebase.fault(t, "reply_to_customer="+fault+":1")
					ctx, leave := context.WithCancel(t.Context())
					first := f.front.later(f.front.reply(revision, crashText).WithContext(ctx))
					f.kitebase.arrived(1)
					pause(50 * time.Millisecond)
					leave()
					<-first
					reply := f.answered(t, revision, crashText)
					require.Equal(t, []int{1, 1}, f.balancer.counts()[:2], "the repeat went to the other replica, and needed no other")
					f.kitebase.settle()
					require.Equal(t, []string{reply.ReplyID}, f.kitebase.emailsTo(crashTicket))
					require.True(t, reply.AlreadySent)
				})
			})
		})
	}
}

// TestReplicasWithOtherClients: what one client has done is the same for all who may call, and other replies go on.
func TestReplicasOtherReplies(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 2, false)
	let := make(chan struct{})
	f.gate.onReply(func(work func()) bool { <-let; work(); return true })
	held := f.front.later(f.front.reply(statelessRevision, crashText))
	f.kitebase.arrived(1)
	for i := range 4 {
		r := f.front.call(statelessRevision, "reply_to_customer", replyTo(fmt.Sprintf("KITE-%d", 101+i), crashText))
		require.False(t, f.front.send(t, r).result(t).reply(t).AlreadySent)
	}
	close(let)
	require.False(t, (<-held).result(t).reply(t).AlreadySent)
	require.Len(t, f.kitebase.Outbox(), 5)
}

// TestReplicasAndStreams: an SSE session lives in the replica that holds its stream. The message that a balancer takes to
// another one is refused in words, and nothing is run.
func TestReplicasAndStreams(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 2, false)
	stream := f.front.openStream()
	lost := f.front.send(t, f.front.request(http.MethodPost, stream.path, toolCall("reply_to_customer", updateReply)))
	require.Equal(t, http.StatusNotFound, lost.status)
	require.Contains(t, lost.body, "There is no such session. Connect again.")
	require.Empty(t, f.kitebase.Outbox())
	stream.post(toolCall("reply_to_customer", updateReply)) // in turn, this one comes home
	require.False(t, stream.result().reply(t).AlreadySent)
	stream.leave()
}
