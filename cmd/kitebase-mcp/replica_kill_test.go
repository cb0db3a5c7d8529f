package main_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// replicaKills are the points of a reply at which its replica is killed, and how many emails are out by then.
func replicaKills() map[string]replicaKill {
	return map[string]replicaKill{
		"during the claim": {0, func(t *testing.T, f *fleet, kill func()) {
			first := f.replicas[0] // until it has written, being asked whether it is ready is a write, which would be blocked too
			first.send(t, first.call(statelessRevision, "reply_to_customer", replyTo("KITE-102", "Warm-up"))).result(t).reply(t)
			unlock := lockRecords(t, f.ledger)
			go func() {
				defer unlock()
				awaitBlocked(t, f.ledger)
				kill()
			}()
		}},
		"after the claim, before the request": {0, func(_ *testing.T, f *fleet, kill func()) { f.gate.onConnection(kill) }},
		"during the request, which is never written": {0, func(_ *testing.T, f *fleet, kill func()) {
			f.gate.onReply(func(func()) bool { kill(); return false })
		}},
		"during the request, which lands later": {1, func(_ *testing.T, f *fleet, kill func()) {
			f.gate.onReply(func(work func()) bool { kill(); work(); return false })
		}},
		"during the request, which has landed": {1, func(_ *testing.T, f *fleet, kill func()) {
			f.gate.onReply(func(work func()) bool { work(); kill(); return false })
		}},
	}
}

// replicaKill arranges that kill is called at some point of the next reply.
type replicaKill struct {
	sent    int
	arrange func(t *testing.T, f *fleet, kill func())
}

// TestReplicaIsKilled: the client of a replica that is killed sees 502, as from any proxy. The other replica tells it the
// truth, and there is one email. A balancer that repeats the request by itself does no harm either.
func TestReplicaIsKilled(t *testing.T) {
	t.Parallel()
	for name, point := range replicaKills() {
		for _, retries := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, balancer retries=%t", name, retries), func(t *testing.T) {
				t.Parallel()
				eachUpstream(t, func(t *testing.T, keys bool) {
					f := newFleet(t, 2, keys)
					f.balancer.checks, f.balancer.retries = true, retries
					other := f.replicas[1]
					other.send(t, other.call(statelessRevision, "reply_to_customer", replyTo("KITE-101", "Warm-up"))).result(t).reply(t)
					point.arrange(t, f, f.replicas[0].kill)
					f.balancer.turn(0)
					first := f.front.send(t, f.front.reply(statelessRevision, crashText))
					f.replicas[0].killed()
					f.kitebase.settle()
					if retries {
						requireTrue(t, first.result(t), f.kitebase.emailsTo(crashTicket))
					} else {
						require.Equal(t, http.StatusBadGateway, first.status, first.body)
						require.Len(t, f.kitebase.emailsTo(crashTicket), point.sent)
					}

					reply := f.answered(t, handshakeRevision, crashText)
					require.Equal(t, []string{reply.ReplyID}, f.kitebase.emailsTo(crashTicket))
					if !retries {
						require.Equal(t, point.sent == 1, reply.AlreadySent)
					}
					restarted := f.add(t, f.ledger)
					again := restarted.send(t, restarted.reply(statelessRevision, crashText)).result(t).reply(t)
					require.True(t, again.AlreadySent)
					require.Equal(t, reply.ReplyID, again.ReplyID)
					require.Equal(t, []string{reply.ReplyID}, f.kitebase.emailsTo(crashTicket))
				})
			})
		}
	}
}

// TestReplicaDrains: a replica that is told to end says so to the balancer, finishes what it has begun, and is not missed.
func TestReplicaDrains(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 2, false)
	f.balancer.checks = true
	let := make(chan struct{})
	f.gate.onReply(func(work func()) bool { <-let; work(); return true })
	f.balancer.turn(0)
	first := f.front.later(f.front.reply(statelessRevision, crashText))
	f.kitebase.arrived(1)
	f.replicas[0].signal()
	f.replicas[0].logged("shutting down")

	repeat := f.front.later(f.front.reply(handshakeRevision, crashText)) // waits for the reply of the other replica
	for i := range 4 {
		r := f.front.call(statelessRevision, "reply_to_customer", replyTo(fmt.Sprintf("KITE-%d", 101+i), crashText))
		require.False(t, f.front.send(t, r).result(t).reply(t).AlreadySent)
	}
	require.Equal(t, []int{1, 5}, f.balancer.counts())
	close(let)
	require.False(t, (<-first).result(t).reply(t).AlreadySent)
	f.replicas[0].wait()
	require.True(t, (<-repeat).result(t).reply(t).AlreadySent)
	require.Equal(t, []string{"rpl_005"}, f.kitebase.emailsTo(crashTicket))
}

// kill ends a replica as kill -9 does.
func (s *site) kill() { _ = s.cmd.Process.Kill() } // an error says that it is dead already

// killed waits for the end of a replica that was killed.
func (s *site) killed() {
	s.over = true
	_ = s.cmd.Wait() // it was killed
}

// lockRecords keeps every process from writing to a ledger in PostgreSQL, as long as it is not unlocked. Reading goes on: the look
// at what an earlier process left behind comes at any time.
func lockRecords(t *testing.T, ledger string) (unlock func()) {
	ctx := context.Background() // it may be unlocked when the test is over
	conn, err := pgx.Connect(ctx, ledger)
	require.NoError(t, err)
	_, err = conn.Exec(ctx, "BEGIN; LOCK TABLE records IN EXCLUSIVE MODE")
	require.NoError(t, err)
	return func() {
		if err := conn.Close(ctx); err != nil {
			t.Errorf("unlocking: %v", err)
		}
	}
}

// awaitBlocked waits until somebody waits for the lock of [lockRecords].
func awaitBlocked(t *testing.T, ledger string) {
	conn, err := pgx.Connect(context.Background(), ledger)
	if err != nil {
		t.Errorf("looking at locks: %v", err)
		return
	}
	defer conn.Close(context.Background())
	for waiting := 0; waiting == 0 && err == nil && t.Context().Err() == nil; pause(0) {
		err = conn.QueryRow(context.Background(), "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'records'::regclass").Scan(&waiting)
	}
	if err != nil {
		t.Errorf("looking at locks: %v", err)
	}
}
