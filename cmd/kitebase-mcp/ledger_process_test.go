package main_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/fakeapi"
)

// newSharedScene has a Kitebase that ignores keys, so that nothing but the ledger can be what held a reply back.
func newSharedScene(t *testing.T, ledger string) *scene {
	t.Helper()
	return &scene{startUpstream(t, fakeapi.Config{IgnoreKeys: true}), ledger, false}
}

// TestTwoServersOneReply: a host starts every server twice and sends each call to both, a few milliseconds apart.
func TestTwoServersOneReply(t *testing.T) {
	t.Parallel()
	for name, warm := range map[string]bool{"fresh ledger": false, "ledger in use": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachLedger(t, func(t *testing.T, ledger string) {
				s := newSharedScene(t, ledger)
				s.kitebase.fault(t, "reply_to_customer=slow=100ms")
				a, b := s.serve(t), s.serve(t)
				if warm {
					s.answer(t, a, "KITE-101", "Hello")
					s.answer(t, b, "KITE-102", "Hello")
				}
				one := a.send("reply_to_customer", replyTo(crashTicket, crashText))
				pause(3 * time.Millisecond)
				two := b.send("reply_to_customer", replyTo(crashTicket, crashText))
				first, second := a.await(one).result(t).reply(t), b.await(two).result(t).reply(t)
				require.Equal(t, []string{first.ReplyID}, s.kitebase.emailsTo(crashTicket))
				require.Equal(t, first.ReplyID, second.ReplyID)
				require.NotEqual(t, first.AlreadySent, second.AlreadySent, "one sent it, and the other says that it was sent")
			})
		})
	}
}

// TestManyServersOneReply: 100 times the same reply, over 4 processes.
func TestManyServersOneReply(t *testing.T) {
	t.Parallel()
	eachLedger(t, func(t *testing.T, ledger string) {
		s := newSharedScene(t, ledger)
		s.kitebase.fault(t, "reply_to_customer=slow=50ms")
		servers := []*child{s.serve(t), s.serve(t), s.serve(t), s.serve(t)}
		ids := make([][]string, len(servers))
		for range 25 {
			for i, server := range servers {
				ids[i] = append(ids[i], server.send("reply_to_customer", replyTo(crashTicket, crashText)))
			}
		}
		fresh := 0
		for i, server := range servers {
			for _, id := range ids[i] {
				reply := server.await(id).result(t).reply(t)
				require.Equal(t, "rpl_001", reply.ReplyID)
				if !reply.AlreadySent {
					fresh++
				}
			}
		}
		require.Equal(t, 1, fresh)
		require.Equal(t, 1, s.kitebase.requestsOf("reply_to_customer", 0))
		record := s.only(t)
		require.Equal(t, 1, record.Attempts)
		// Repeats are counted as well as it goes: a count that meets with others gives up before it delays an answer.
		require.Positive(t, record.HostRepeats+record.ModelRepeats)
		require.LessOrEqual(t, record.HostRepeats+record.ModelRepeats, 99)
	})
}

// TestManyServersManyReplies: 8 processes send different replies, 100 each in the long form, all at once. None is lost, none
// doubled, and the ledger agrees with what the customers got.
func TestManyServersManyReplies(t *testing.T) {
	t.Parallel()
	servers, replies := 8, 20
	if *long { // with -race a transaction takes so long that on a busy machine some would be refused
		replies = 100
	}
	eachLedger(t, func(t *testing.T, ledger string) {
		s := newSharedScene(t, ledger)
		var all []*child
		for range servers {
			all = append(all, s.serve(t, "--call-deadline=100s", "--attempt-timeout=50s"))
		}
		for n := range replies {
			for i, server := range all {
				server.send("reply_to_customer", replyTo(fmt.Sprintf("KITE-%d", 101+(n*servers+i)%60), fmt.Sprintf("Part %d of %d", n, i)))
			}
		}
		told := map[string]bool{}
		for _, server := range all {
			for n := range replies {
				r := server.await(fmt.Sprint(n + 1)).result(t)
				if r.IsError {
					server.end()
					t.Log(server.stderr.String()[:min(3000, server.stderr.Len())])
				}
				reply := r.reply(t)
				require.False(t, reply.AlreadySent)
				told[reply.ReplyID] = true
			}
		}
		require.Len(t, told, servers*replies)
		outbox := s.kitebase.Outbox()
		require.Len(t, outbox, servers*replies)
		sent, texts := map[string]bool{}, map[string]bool{}
		for _, email := range outbox {
			texts[email.Body] = true
			sent[email.TicketID+" "+email.IdempotencyKey] = true
		}
		require.Len(t, texts, servers*replies)
		recorded := map[string]bool{}
		for _, record := range s.list(t, "--state=done") {
			recorded[record.Ticket+" "+record.Key] = true
			require.Equal(t, 1, record.Attempts)
		}
		require.Equal(t, sent, recorded)
	})
}
