package main_test

import (
	"testing"

	"github.com/gofrs/flock"
	"github.com/stretchr/testify/require"
)

// TestUnrecordedReply: the reply has gone out, and the ledger cannot be written to. It was sent, so that is what is told, with
// a warning; and nobody sends it again, not even when the server is killed before the ledger can be used again.
func TestUnrecordedReply(t *testing.T) {
	t.Parallel()
	eachUpstream(t, func(t *testing.T, keys bool) {
		s, g := newGatedScene(t, keys)
		lock := flock.New(s.ledger + ".lock")
		first := s.serve(t, "--call-deadline=8s")
		g.onReply(func(work func()) bool {
			work()
			return lock.Lock() == nil
		})
		reply := first.call("reply_to_customer", replyTo(crashTicket, crashText)).reply(t)
		require.Equal(t, "rpl_001", reply.ReplyID)
		require.Contains(t, reply.Note, "could not be recorded")
		requireReads(t, first)

		again := first.call("reply_to_customer", replyTo(crashTicket, crashText))
		requireTrue(t, again, s.kitebase.emailsTo(crashTicket))
		if keys {
			require.True(t, again.reply(t).AlreadySent)
		}
		require.NoError(t, lock.Unlock())
		first.kill()
		first.gone()

		second := s.answer(t, s.serve(t), crashTicket, crashText)
		require.True(t, second.AlreadySent)
		require.Equal(t, []string{second.ReplyID}, s.kitebase.emailsTo(crashTicket))
	})
}
