package main_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestReplicaLosesItsLedger: one replica cannot reach PostgreSQL any more, the other one can. With a Kitebase that honours
// keys both go on: the first remembers in memory, says so in each reply, and Kitebase recognises what the other one sent.
// Without keys it sends nothing. When the ledger is back, nothing is said any more.
func TestReplicaLosesItsLedger(t *testing.T) {
	t.Parallel()
	for name, state := range map[string]wireState{"cut": cut, "frozen": frozen} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachUpstream(t, func(t *testing.T, keys bool) {
				f := newFleet(t, 1, keys, "--call-deadline=25s", "--attempt-timeout=5s")
				w, ledger := wired(t, f.ledger)
				f.add(t, ledger, "--call-deadline=25s", "--attempt-timeout=5s")
				good, lost := f.replicas[0], f.replicas[1]
				ask := func(s *site, text string) result {
					return s.send(t, s.reply(statelessRevision, text)).result(t)
				}
				var busy []<-chan served // so that there are connections enough to be lost in any state
				for i := range 20 {
					busy = append(busy, lost.later(lost.call(statelessRevision, "reply_to_customer", replyTo(fmt.Sprintf("KITE-%d", 101+i), "Hello"))))
				}
				for _, answer := range busy {
					(<-answer).result(t).reply(t)
				}
				before := ask(lost, "Before").reply(t)
				require.Empty(t, before.Note)
				w.set(state)

				for _, text := range []string{"Before", "Of the good one", "Of the lost one"} {
					if text == "Of the good one" {
						require.Empty(t, ask(good, text).reply(t).Note)
					}
					began := time.Now()
					r := ask(lost, text)
					t.Logf("%s: %s after %s", text, r.text(), time.Since(began))
					if keys {
						require.Contains(t, r.reply(t).Note, "cannot be written now")
						require.Equal(t, text != "Of the lost one", r.reply(t).AlreadySent, text)
					} else {
						require.True(t, r.IsError)
						require.Equal(t, "person", r.Meta.Error.Next)
						require.Equal(t, "not_done", r.Meta.Error.Outcome, "of this call")
						require.Contains(t, r.text(), "whether the same was done before is not known")
					}
					ask(good, text).reply(t)
					require.Len(t, f.emailsWith(text), 1)
				}

				w.set(whole)
				require.Eventually(t, func() bool { // its lock has to be had back first
					r := ask(lost, "After")
					return !r.IsError && (r.reply(t).AlreadySent || r.reply(t).Note == "")
				}, watchdog, 100*time.Millisecond)
				for _, text := range []string{"Before", "Of the good one", "Of the lost one", "After"} {
					for _, s := range f.replicas {
						require.True(t, ask(s, text).reply(t).AlreadySent)
					}
					require.Len(t, f.emailsWith(text), 1)
				}
			})
		})
	}
}
