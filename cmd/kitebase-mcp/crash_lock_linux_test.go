package main_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"regexp"
	"syscall"
	"testing"

	"github.com/gofrs/flock"
	_ "modernc.org/sqlite" // the database/sql driver "sqlite"
)

// lockedKillPoints are those that only the locks of the ledger can hold a server at.
func lockedKillPoints() map[string]killPoint {
	return map[string]killPoint{
		"after the answer, before the record": {1, func(t *testing.T, s *scene, g *gate, victim *child) {
			g.onReply(func(work func()) bool {
				work()
				unlock := lockLedger(t, s.ledger)
				go func() {
					defer unlock()
					awaitLock(t, s.ledger, fmt.Sprintf(`-> FLOCK +ADVISORY +WRITE %d `, victim.cmd.Process.Pid))
					victim.kill()
				}()
				return true
			})
		}},
		"during the record": {1, func(t *testing.T, s *scene, g *gate, victim *child) {
			g.onReply(func(work func()) bool {
				work()
				unlock := lockDatabase(t, s.ledger)
				go func() {
					defer unlock()
					awaitLock(t, s.ledger, fmt.Sprintf(`\d: FLOCK +ADVISORY +WRITE %d `, victim.cmd.Process.Pid))
					victim.kill()
				}()
				return true
			})
		}},
	}
}

// lockLedger keeps every process from writing to the ledger, as long as it is not unlocked.
func lockLedger(t *testing.T, ledger string) (unlock func()) {
	lock := flock.New(ledger + ".lock")
	requireHere(t, lock.Lock())
	return func() { requireHere(t, lock.Unlock()) }
}

// lockDatabase holds a writer in the midst of its turn.
func lockDatabase(t *testing.T, ledger string) (unlock func()) {
	ctx := context.Background() // it may be unlocked when the test is over
	db, err := sql.Open("sqlite", "file:"+ledger)
	requireHere(t, err)
	conn, err := db.Conn(ctx)
	requireHere(t, err)
	_, err = conn.ExecContext(ctx, "BEGIN IMMEDIATE")
	requireHere(t, err)
	return func() {
		requireHere(t, conn.Close())
		requireHere(t, db.Close())
	}
}

// awaitLock waits until the kernel's list of locks has a line that begins so for the lock file of the ledger.
func awaitLock(t *testing.T, ledger, pattern string) {
	file, err := os.Stat(ledger + ".lock")
	requireHere(t, err)
	line := regexp.MustCompile(fmt.Sprintf(`(?m)%s[0-9a-f:]+:%d `, pattern, file.Sys().(*syscall.Stat_t).Ino))
	for t.Context().Err() == nil {
		locks, err := os.ReadFile("/proc/locks")
		requireHere(t, err)
		if line.Match(locks) {
			return
		}
		pause(0)
	}
}

// requireHere is require.NoError for other goroutines than that of the test.
func requireHere(t *testing.T, err error) {
	if err != nil {
		t.Errorf("locking: %v", err)
	}
}
