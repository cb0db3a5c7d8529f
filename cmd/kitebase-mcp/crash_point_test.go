package main_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	crashTicket = "KITE-142"
	crashText   = "We have reset your sign-in."
)

// TestKilledReply: hosts kill a server without warning, in the worst moment. The next one, on the same ledger, ends the
// matter with one email and tells its id.
//
// The lease is twice the deadline of a call, here two hours: who waited for it would never end.
func TestKilledReply(t *testing.T) {
	t.Parallel()
	for name, test := range killPoints() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachUpstream(t, func(t *testing.T, keys bool) {
				s, g := newGatedScene(t, keys)
				first := s.serve(t, "--call-deadline=1h", "--settle-after=300ms")
				test.arrange(t, s, g, first)
				first.send("reply_to_customer", replyTo(crashTicket, crashText))
				first.gone()
				s.kitebase.settle()
				require.Len(t, s.kitebase.emailsTo(crashTicket), test.sent)

				second := s.serve(t, "--call-deadline=1h", "--settle-after=300ms")
				reply := s.answer(t, second, crashTicket, crashText)
				require.Equal(t, []string{reply.ReplyID}, s.kitebase.emailsTo(crashTicket))
				require.Equal(t, test.sent == 1, reply.AlreadySent)
				require.Equal(t, "done", s.only(t).State)
				require.Equal(t, 1, s.only(t).Generation)
			})
		})
	}
}

// killPoint kills a server when it comes to some point of a reply.
type killPoint struct {
	sent    int // emails that are out when it is dead
	arrange func(t *testing.T, s *scene, g *gate, victim *child)
}

func killPoints() map[string]killPoint {
	points := map[string]killPoint{
		"after the claim, before the request": {0, func(_ *testing.T, _ *scene, g *gate, victim *child) {
			g.onConnection(victim.kill)
		}},
		"during the request, which comes to nothing": {0, func(_ *testing.T, _ *scene, g *gate, victim *child) {
			g.onReply(func(func()) bool { victim.kill(); return false })
		}},
		"during the request, before the email": {1, func(_ *testing.T, _ *scene, g *gate, victim *child) {
			g.onReply(func(work func()) bool { victim.kill(); work(); return false })
		}},
		"during the request, after the email": {1, func(_ *testing.T, _ *scene, g *gate, victim *child) {
			g.onReply(func(work func()) bool { work(); victim.kill(); return false })
		}},
	}
	for name, point := range lockedKillPoints() {
		points[name] = point
	}
	return points
}

// TestUnknownIsTakenOverAtOnce: the system says that the owner of a claim is dead. Nobody waits for its lease, and the model
// is told when the matter can be settled.
func TestUnknownIsTakenOverAtOnce(t *testing.T) {
	t.Parallel()
	eachLedger(t, func(t *testing.T, ledger string) {
		s, g := newGatedScene(t, false)
		s.ledger = ledger
		first := s.serve(t, "--call-deadline=1h", "--settle-after=1h")
		g.onReply(func(func()) bool { first.kill(); return false })
		first.send("reply_to_customer", replyTo(crashTicket, crashText))
		first.gone()

		held := s.serve(t, "--call-deadline=1h", "--settle-after=1h").call("reply_to_customer", replyTo(crashTicket, crashText))
		require.Equal(t, "held", held.kind(), held.text())
		require.Equal(t, "unknown", held.Meta.Error.Outcome)
		require.Positive(t, held.Meta.Error.RetryAfterMS)
		require.Equal(t, "unknown", s.only(t).State)
		require.Empty(t, s.kitebase.Outbox())
	})
}
