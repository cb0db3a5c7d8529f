package main_test

import (
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// TestReplicaIsStopped: a replica is stopped in the middle of a reply, as a machine that goes to sleep is, for so long that
// another one ends the matter. The one that wakes up must not send what was sent meanwhile, not even to a Kitebase without
// keys, where nobody but itself could stop it.
func TestReplicaIsStopped(t *testing.T) {
	t.Parallel()
	for name, point := range map[string]func(t *testing.T, f *fleet, stop func()){
		"in the middle of the claim": func(t *testing.T, f *fleet, stop func()) {
			first := f.replicas[0] // which clears the ledger of old records before its first claim
			first.send(t, first.call(statelessRevision, "reply_to_customer", replyTo("KITE-102", "Warm-up"))).result(t).reply(t)
			unlock := lockRecords(t, f.ledger)
			go func() {
				defer unlock()
				awaitBlocked(t, f.ledger)
				stop() // the claim is written, and the answer waits for whom it is for
			}()
		},
		"at the beginning of the request": func(_ *testing.T, f *fleet, stop func()) { f.gate.onConnection(stop) },
		"before the answer": func(_ *testing.T, f *fleet, stop func()) {
			f.gate.onReply(func(work func()) bool { stop(); work(); return true })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachUpstream(t, func(t *testing.T, keys bool) {
				t.Run("and its connections are cut", func(t *testing.T) {
					t.Parallel()
					stopScene(t, keys, point, disown)
				})
				t.Run("and its lease runs out", func(t *testing.T) {
					t.Parallel()
					if !*long {
						t.Skip("a lease lasts for a minute; run with -args -long")
					}
					stopScene(t, keys, point, func(*testing.T, *fleet) { pause(time.Minute + 5*time.Second) })
				})
			})
		})
	}
}

// stopScene stops the first of two replicas at some point, and has its claim given up.
func stopScene(t *testing.T, keys bool, point func(*testing.T, *fleet, func()), giveUp func(*testing.T, *fleet)) {
	t.Helper()
	f := newFleet(t, 0, keys)
	stopped := f.add(t, f.ledger+"&application_name="+url.QueryEscape(f.stoppedName()), "--call-deadline=30s", "--attempt-timeout=30s")
	other := f.add(t, f.ledger)
	other.send(t, other.call(statelessRevision, "reply_to_customer", replyTo("KITE-101", "Warm-up"))).result(t).reply(t)

	signal := func(s syscall.Signal) {
		if err := stopped.cmd.Process.Signal(s); err != nil {
			t.Errorf("%s: %v", s, err)
		}
	}
	reached := make(chan struct{})
	point(t, f, func() {
		signal(syscall.SIGSTOP)
		awaitStopped(t, stopped.cmd.Process.Pid)
		close(reached)
	})
	first := stopped.later(stopped.reply(statelessRevision, crashText))
	t.Cleanup(func() { signal(syscall.SIGCONT) })
	<-reached
	f.awaitClaim(t)
	giveUp(t, f)

	told := f.answeredBy(t, other, statelessRevision, crashText)
	require.Equal(t, []string{told.ReplyID}, f.kitebase.emailsTo(crashTicket))
	signal(syscall.SIGCONT)
	r := (<-first).result(t)
	f.kitebase.settle()
	t.Logf("the one that woke up says: %s", r.text())
	require.Equal(t, []string{told.ReplyID}, f.kitebase.emailsTo(crashTicket))
	if !r.cannotTell() { // it stood still for longer than a write may take
		if r.IsError && r.Meta.Error.Outcome == "not_done" { // a lie; what it logged says how it came to it
			stopped.signal()
			log, _ := io.ReadAll(stopped.log) // as far as there is any
			t.Logf("its log:\n%s", log)
		}
		requireTrue(t, r, f.kitebase.emailsTo(crashTicket))
	}
	require.Equal(t, told.ReplyID, f.answeredBy(t, stopped, statelessRevision, crashText).ReplyID)
}

// stoppedName is what PostgreSQL knows the stopped replica by.
func (f *fleet) stoppedName() string {
	address, _ := url.Parse(f.ledger) // we made it
	return "stopped_" + address.Query().Get("search_path")
}

// disown cuts the connections of the stopped replica to PostgreSQL, as keep-alives do when a machine sleeps.
func disown(t *testing.T, f *fleet) {
	conn, err := pgx.Connect(t.Context(), f.ledger)
	require.NoError(t, err)
	defer conn.Close(t.Context())
	tag, err := conn.Exec(t.Context(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1", f.stoppedName())
	require.NoError(t, err)
	require.Positive(t, tag.RowsAffected())
}

// awaitClaim waits a little until the reply is claimed. It may never be: on a connection of which PostgreSQL has not seen the
// statement yet, it is the preparation of the claim that waited for the lock, and the stopped process does not go on to the claim.
func (f *fleet) awaitClaim(t *testing.T) {
	t.Helper()
	for range 20 {
		if len(f.list(t, "--state=claimed")) > 0 {
			return
		}
	}
	t.Log("it was stopped before the claim was made")
}

// awaitStopped waits until all of a process stands still: a signal takes its time.
func awaitStopped(t *testing.T, pid int) {
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	requireHere(t, err)
	for _, task := range tasks {
		for t.Context().Err() == nil {
			stat, err := os.ReadFile(task)
			if err != nil || strings.Contains(string(stat), ") T ") {
				break // a thread that has ended stands still as well
			}
			pause(0)
		}
	}
}
