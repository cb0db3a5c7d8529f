package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"regexp"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Grace is how long the lock of an owner must be free before the owner is taken for dead. A living owner that loses its
// connection has it back much sooner.
const Grace = 3 * time.Second

// forgetAfter is how long it is remembered that a lock was free; by then every lease has run out.
const forgetAfter = time.Hour

// names is the form of the names that newOwner gives; any other never lived here.
var names = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^.+-\d+-[A-Z2-7]{26}$`) })

// watch remembers since when the locks of others were seen free. It is safe for concurrent use.
type watch struct {
	mu   sync.Mutex
	free map[string]time.Time
}

func newWatch() *watch { return &watch{free: make(map[string]time.Time)} }

// alive tries the lock of that name. It is given back when the statement ends.
func (w *watch) alive(ctx context.Context, pool *pgxpool.Pool, name string) (bool, error) {
	if !names().MatchString(name) {
		return false, nil
	}
	var free bool
	err := pool.QueryRow(ctx, "SELECT pg_try_advisory_xact_lock($1)", lockOf(name)).Scan(&free)
	if err != nil {
		return false, err
	}
	return !w.dead(name, free, time.Now()), nil
}

// dead reports whether the lock has been free for [Grace].
func (w *watch) dead(name string, free bool, now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !free {
		delete(w.free, name)
		return false
	}
	since, seen := w.free[name]
	if !seen {
		maps.DeleteFunc(w.free, func(_ string, since time.Time) bool { return now.Sub(since) > forgetAfter })
		w.free[name] = now
		return false
	}
	return now.Sub(since) >= Grace
}

// lockOf returns the number of the advisory lock of the owner of that name.
func lockOf(name string) int64 {
	sum := sha256.Sum256([]byte("kitebase-mcp owner " + name))
	return int64(binary.BigEndian.Uint64(sum[:])) //nolint:gosec // any 64 bits will do
}
