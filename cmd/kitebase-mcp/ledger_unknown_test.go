package main_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLostAnswerIsFound: Kitebase sent the reply and said nothing, and it honours no keys. The ticket is read back within the
// same call, so that the model never hears of it.
func TestLostAnswerIsFound(t *testing.T) {
	t.Parallel()
	for _, fault := range []string{"lose", "hang"} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, false)
			s.kitebase.fault(t, "reply_to_customer="+fault+":1")
			r := s.serve(t, "--attempt-timeout=2s").call("reply_to_customer", replyTo(crashTicket, crashText))
			require.Equal(t, "rpl_001", r.reply(t).ReplyID)
			require.False(t, r.reply(t).AlreadySent)
			require.NotEmpty(t, r.reply(t).Note)
			require.Equal(t, 1, r.attempts(t))
			require.Equal(t, 1, s.kitebase.requestsOf("reply_to_customer", 0))
			require.Equal(t, "done", s.only(t).State)
			require.Equal(t, "read back", s.only(t).Evidence)
		})
	}
}

// lateScene has a reply on which Kitebase still works when the model has been told that nobody knows.
func lateScene(t *testing.T, settleAfter string) (*scene, *child) {
	t.Helper()
	s, g := newGatedScene(t, false)
	landing := make(chan struct{})
	land := sync.OnceFunc(func() { close(landing) })
	t.Cleanup(land) // before the gate closes, which waits for the request
	g.onReply(func(work func()) bool {
		<-landing
		work()
		return true
	})
	server := s.serve(t, "--attempt-timeout=500ms", settleAfter)
	first := server.call("reply_to_customer", replyTo(crashTicket, crashText))
	require.Equal(t, "timeout", first.kind(), first.text())
	require.Equal(t, "unknown", first.Meta.Error.Outcome)

	again := server.call("reply_to_customer", replyTo(crashTicket, crashText))
	require.Equal(t, "held", again.kind(), "before the horizon nobody can say that it was not sent: %s", again.text())
	require.Equal(t, "unknown", again.Meta.Error.Outcome)
	require.EqualValues(t, 1, g.replies.Load())
	require.Empty(t, s.kitebase.Outbox())
	land()
	s.kitebase.settle()
	require.Len(t, s.kitebase.Outbox(), 1)
	return s, server
}

// TestLateReply: the email goes out after the answer to the model. However it is found out, it is the only one.
func TestLateReply(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		settleAfter string
		settle      func(t *testing.T, s *scene, first *child)
	}{
		"settled by the next call": {"--settle-after=1h", func(*testing.T, *scene, *child) {}},
		"settled in the background": {"--settle-after=3s", func(t *testing.T, s *scene, _ *child) {
			s.becomes(t, "settled")
		}},
		"settled by the next start": {"--settle-after=1h", func(t *testing.T, s *scene, first *child) {
			first.end()
			s.serve(t)
			s.becomes(t, "settled")
		}},
		"settled by hand": {"--settle-after=1h", func(t *testing.T, s *scene, _ *child) {
			settled := s.command(t, "settle", "--url", s.kitebase.url, "--settle-after=1h")
			require.Zero(t, settled.code, settled.stderr)
			require.Contains(t, settled.stdout, "settled")
			require.Equal(t, "settled", s.only(t).State)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, first := lateScene(t, test.settleAfter)
			test.settle(t, s, first)
			reply := s.answer(t, s.serve(t), crashTicket, crashText)
			require.True(t, reply.AlreadySent)
			require.Equal(t, []string{reply.ReplyID}, s.kitebase.emailsTo(crashTicket))
			require.Equal(t, 1, s.kitebase.requestsOf("reply_to_customer", 0))
			require.Equal(t, "done", s.only(t).State)
			require.Equal(t, "read back", s.only(t).Evidence)
		})
	}
}

// TestVanishedReply: the connection was cut and nothing came of it. When the horizon has passed, that is certain, and the
// reply that is still wanted goes out.
func TestVanishedReply(t *testing.T) {
	t.Parallel()
	for name, settle := range map[string]func(t *testing.T, s *scene){
		"settled by the next call": func(*testing.T, *scene) {},
		"settled by hand": func(t *testing.T, s *scene) {
			for s.only(t).State != "abandoned" {
				settled := s.command(t, "settle", "--url", s.kitebase.url, "--settle-after=300ms")
				require.Zero(t, settled.code, settled.stderr)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, false)
			s.kitebase.fault(t, "reply_to_customer=drop:1")
			server := s.serve(t, "--settle-after=300ms")
			first := server.call("reply_to_customer", replyTo(crashTicket, crashText))
			require.Equal(t, "unknown", first.Meta.Error.Outcome)
			settle(t, s)
			reply := s.answer(t, server, crashTicket, crashText)
			require.False(t, reply.AlreadySent)
			require.Equal(t, []string{reply.ReplyID}, s.kitebase.emailsTo(crashTicket))
		})
	}
}

// TestIgnoredKeysAcrossServers: the settings say that Kitebase honours keys, and it does not. That costs a second email once,
// which nothing could prevent; it is said, no reply is tried twice from then on, and no other server repeats the first one.
func TestIgnoredKeysAcrossServers(t *testing.T) {
	t.Parallel()
	s := newScene(t, false)
	s.keys = true // so it is told
	first := s.serve(t)
	s.kitebase.fault(t, "reply_to_customer=lose:1")
	reply := first.call("reply_to_customer", replyTo("KITE-101", crashText)).reply(t)
	require.Contains(t, reply.Note, "more than once")
	require.Len(t, s.kitebase.emailsTo("KITE-101"), 2)

	s.kitebase.fault(t, "reply_to_customer=lose:1")
	require.NotEmpty(t, first.call("reply_to_customer", replyTo("KITE-102", crashText)).reply(t).ReplyID)
	require.Len(t, s.kitebase.emailsTo("KITE-102"), 1)
	first.end()
	require.Regexp(t, `"level":"ERROR".*ignores Idempotency-Key`, first.stderr.String())

	second := s.serve(t)
	for _, ticket := range []string{"KITE-101", "KITE-102"} {
		before := s.kitebase.emailsTo(ticket)
		require.True(t, s.answer(t, second, ticket, crashText).AlreadySent)
		require.Equal(t, before, s.kitebase.emailsTo(ticket))
	}
}
