package main_test

import (
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/fakeapi"
)

var long = flag.Bool("long", false, "run the long form of the tests that kill processes")

// TestKillSweep kills a server at moments spread over the whole life of a reply, every second time also the one that cleans
// up after it, and has the next one end the matter: one email each, and no answer on the way that is not true.
func TestKillSweep(t *testing.T) {
	t.Parallel()
	eachUpstream(t, func(t *testing.T, keys bool) {
		eachLedger(t, func(t *testing.T, ledger string) {
			s := newScene(t, keys)
			s.ledger = ledger
			kills := 10 // and as many with or without keys
			if *long {
				kills = 120
			}
			if isPostgres(ledger) { // where it takes seconds until a process is known to be dead
				kills /= 2
			}
			sweepKills(t, s, kills)
		})
	})
}

func isPostgres(ledger string) bool { return strings.HasPrefix(ledger, "postgres") }

func sweepKills(t *testing.T, s *scene, kills int) {
	t.Helper()
	// The work of Kitebase becomes as long as the rest of the call.
	require.NoError(t, s.kitebase.SetFault("reply_to_customer", fakeapi.Fault{Kind: fakeapi.FaultSlow, Delay: 5 * time.Millisecond}))
	sweep := &sweep{scene: s, life: s.lifeOfReply(t)}
	server := sweep.serve(t)
	for n, i := 0, 0; n < kills; i++ {
		ticket, text := fmt.Sprintf("KITE-%d", 101+i%60), fmt.Sprintf("Part %d", i)
		for range 1 + i%2 {
			sweep.kill(t, server, sweep.moment(n, kills), ticket, text)
			server = sweep.serve(t)
			n++
		}
		reply := s.answer(t, server, ticket, text)
		require.Equal(t, reply.ReplyID, sweep.emailWith(t, text))
	}
	t.Logf("a reply took %s; of %d kills %d came before the email, %d after it, and %d after the answer",
		sweep.life, kills, kills-sweep.sent-sweep.answered, sweep.sent, sweep.answered)
	// What the ledger says is what the customers got.
	require.Len(t, s.list(t, "--state=done"), len(s.kitebase.Outbox()))
	require.Len(t, s.list(t), len(s.kitebase.Outbox()))
}

type sweep struct {
	*scene
	life           time.Duration
	sent, answered int // kills after the email, and after the answer
}

// lifeOfReply measures how long a call takes from its sending to its answer, once everything is open.
func (s *scene) lifeOfReply(t *testing.T) time.Duration {
	t.Helper()
	server := s.serve(t)
	var life time.Duration
	for i := range 3 { // the last one counts
		began := time.Now()
		server.call("reply_to_customer", replyTo("KITE-142", fmt.Sprintf("Warm-up %d", i))).reply(t)
		life = time.Since(began)
	}
	server.end() // a sweep can take longer than the watchdog of a process
	return life
}

// serve starts a server that has opened the ledger and answers at once.
func (s *sweep) serve(t *testing.T) *child {
	t.Helper()
	server := s.scene.serve(t, "--call-deadline=1h", "--settle-after=300ms")
	server.call("assign_ticket", `{"ticket_id":"KITE-1","assignee":"nobody"}`)
	return server
}

// moment returns when to kill the nth: from at once to some time after the end, so that the record is within.
func (s *sweep) moment(n, of int) time.Duration {
	return s.life * 5 / 4 * time.Duration(n) / time.Duration(of-1)
}

// kill has the server make the reply and kills it after a while. If it came to answering, that must be true.
func (s *sweep) kill(t *testing.T, server *child, after time.Duration, ticket, text string) {
	t.Helper()
	id := server.send("reply_to_customer", replyTo(ticket, text))
	if after > 0 {
		<-time.After(after)
	}
	server.kill()
	server.gone()
	s.kitebase.settle()
	for _, a := range server.received() {
		if string(a.ID) == id && a.broken == "" && !a.result(t).IsError {
			require.Equal(t, a.result(t).reply(t).ReplyID, s.emailWith(t, text))
			s.answered++
			return
		}
	}
	if len(s.emailsWith(text)) > 0 {
		s.sent++
	}
}

// emailWith returns the id of the one reply with that text.
func (s *sweep) emailWith(t *testing.T, text string) string {
	t.Helper()
	ids := s.emailsWith(text)
	require.Len(t, ids, 1, "emails with the text %q", text)
	return ids[0]
}

func (s *scene) emailsWith(text string) (ids []string) {
	for _, email := range s.kitebase.Outbox() {
		if email.Body == text {
			ids = append(ids, email.ReplyID)
		}
	}
	return ids
}
