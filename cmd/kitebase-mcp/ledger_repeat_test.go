package main_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRepeatAcrossServers: the same words in another session are a repeat, which says so, unless the customer has written in
// between: then they answer a new question.
func TestRepeatAcrossServers(t *testing.T) {
	t.Parallel()
	eachUpstream(t, func(t *testing.T, keys bool) {
		s := newScene(t, keys)
		first := s.serve(t).call("reply_to_customer", updateReply).reply(t)
		require.False(t, first.AlreadySent)

		again := s.serve(t).call("reply_to_customer", updateReply)
		require.True(t, again.reply(t).AlreadySent)
		require.Equal(t, first.ReplyID, again.reply(t).ReplyID)
		require.NotEmpty(t, again.reply(t).FirstSentAt)
		require.NotEmpty(t, again.reply(t).Note)
		require.True(t, again.Meta.Replayed)
		require.Len(t, s.kitebase.Outbox(), 1)

		require.NoError(t, s.kitebase.CustomerWrites("KITE-142", "Not yet."))
		renewed := s.serve(t).call("reply_to_customer", updateReply).reply(t)
		require.False(t, renewed.AlreadySent)
		require.Equal(t, []string{first.ReplyID, renewed.ReplyID}, s.kitebase.emailsTo("KITE-142"))
		require.True(t, s.serve(t).call("reply_to_customer", updateReply).reply(t).AlreadySent)

		generations := map[int]string{}
		for _, record := range s.list(t) {
			generations[record.Generation] = record.State
		}
		require.Equal(t, map[int]string{1: "done", 2: "done"}, generations)
	})
}

// TestRenewedReplyIsLost: the customer wrote, the same words are said once more, and the connection is cut before anything
// comes of it. The first reply, which reads the same, is no evidence that the second one went out.
func TestRenewedReplyIsLost(t *testing.T) {
	t.Parallel()
	eachUpstream(t, func(t *testing.T, keys bool) {
		s := newScene(t, keys)
		server := s.serve(t, "--attempts=1", "--settle-after=300ms")
		require.Equal(t, "rpl_001", server.call("reply_to_customer", updateReply).reply(t).ReplyID)
		require.NoError(t, s.kitebase.CustomerWrites("KITE-142", "Not yet."))
		s.kitebase.fault(t, "reply_to_customer=drop:1")
		lost := server.call("reply_to_customer", updateReply)
		require.True(t, lost.IsError, "told as sent: %s", lost.Structured)
		require.Equal(t, "unknown", lost.Meta.Error.Outcome)
		require.Equal(t, "rpl_002", s.answer(t, server, "KITE-142", "Any update?").ReplyID)
		require.Len(t, s.kitebase.Outbox(), 2)
	})
}

// TestSameReplyInOtherBytes: line ends and accents can be written in more than one way, and two hosts do.
func TestSameReplyInOtherBytes(t *testing.T) {
	t.Parallel()
	eachUpstream(t, func(t *testing.T, keys bool) {
		s := newScene(t, keys)
		first := s.serve(t).call("reply_to_customer", replyTo(crashTicket, "The café\nis open.")).reply(t)
		second := s.serve(t)
		for name, text := range map[string]string{
			"CRLF": "The café\r\nis open.", "NFD": "The cafe\u0301\nis open.", "both, and white space": "\u00a0 The cafe\u0301\r\nis open.\r\n",
		} {
			again := second.call("reply_to_customer", replyTo(crashTicket, text)).reply(t)
			require.True(t, again.AlreadySent, name)
			require.Equal(t, first.ReplyID, again.ReplyID, name)
		}
		require.False(t, second.call("reply_to_customer", replyTo(crashTicket, "The cafe\nis open.")).reply(t).AlreadySent)
		require.False(t, second.call("reply_to_customer", replyTo("KITE-101", "The café\nis open.")).reply(t).AlreadySent)
		require.Len(t, s.kitebase.Outbox(), 3)
	})
}

// TestUnknownReplyInOtherBytes: what is unknown is not sent again because it now has other line ends, whose key Kitebase does
// not know.
func TestUnknownReplyInOtherBytes(t *testing.T) {
	t.Parallel()
	eachUpstream(t, func(t *testing.T, keys bool) {
		s := unknownScene(t, keys, "lose")
		reply := s.answer(t, s.serve(t), crashTicket, "We have reset\r\nyour sign-in.")
		require.True(t, reply.AlreadySent)
		require.Equal(t, []string{reply.ReplyID}, s.kitebase.emailsTo(crashTicket))
	})
}

// unknownScene has a reply that met a fault while the ticket could not be read, so that it stayed unknown.
func unknownScene(t *testing.T, keys bool, fault string) *scene {
	t.Helper()
	s := newScene(t, keys)
	s.kitebase.fault(t, "reply_to_customer="+fault)
	s.kitebase.fault(t, "get_ticket=status=503")
	first := s.serve(t, "--settle-after=1h").call("reply_to_customer", replyTo(crashTicket, "We have reset\nyour sign-in."))
	require.Equal(t, "unknown", first.Meta.Error.Outcome, first.text())
	s.kitebase.ClearFaults()
	return s
}

// TestRewordedReply: told that a reply may have gone out, models say the same in other words.
func TestRewordedReply(t *testing.T) {
	t.Parallel()
	const reworded = "Your sign-in was reset."
	t.Run("after one that went out", func(t *testing.T) {
		t.Parallel()
		eachUpstream(t, func(t *testing.T, keys bool) {
			s := unknownScene(t, keys, "lose")
			held := s.serve(t).call("reply_to_customer", replyTo(crashTicket, reworded))
			require.Equal(t, "held", held.kind(), held.text())
			require.Equal(t, "not_done", held.Meta.Error.Outcome)
			require.Contains(t, held.text(), "delivered as rpl_001")
			require.Len(t, s.kitebase.Outbox(), 1)

			second := s.serve(t) // the promise holds in the next session, too
			require.Equal(t, "rpl_002", second.call("reply_to_customer", replyTo(crashTicket, reworded)).reply(t).ReplyID)
			require.True(t, second.call("reply_to_customer", replyTo(crashTicket, reworded)).reply(t).AlreadySent)
			require.Len(t, s.kitebase.Outbox(), 2)
		})
	})
	t.Run("while nobody knows", func(t *testing.T) {
		t.Parallel()
		s := unknownScene(t, false, "drop")
		before := len(s.kitebase.Requests())
		held := s.serve(t, "--settle-after=1h").call("reply_to_customer", replyTo(crashTicket, reworded))
		require.Equal(t, "held", held.kind(), held.text())
		require.Contains(t, held.text(), "unconfirmed")
		require.Zero(t, s.kitebase.requestsOf("reply_to_customer", before))

		other := s.serve(t).call("reply_to_customer", replyTo("KITE-101", reworded))
		require.False(t, other.reply(t).AlreadySent, "another ticket has nothing to do with it")
	})
	t.Run("after one that did not go out", func(t *testing.T) {
		t.Parallel()
		s := unknownScene(t, false, "drop")
		server := s.serve(t, "--settle-after=300ms")
		for server.call("reply_to_customer", replyTo(crashTicket, reworded)).kind() == "held" {
			pause(0)
		}
		require.Len(t, s.kitebase.Outbox(), 1)
		require.Equal(t, reworded, s.kitebase.Outbox()[0].Body)
		require.Len(t, s.list(t, "--state=abandoned"), 1)
	})
}
