package postgres

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/idempotency/internal/groupcommit"
	"github.com/kitebase/kitebase-mcp/idempotency/internal/row"
)

// Store is an [idempotency.Store] in a PostgreSQL database. It is safe for concurrent use, and any number of stores, on any
// number of machines, may be open on one database. Goroutines of it run until Close.
type Store struct {
	pool   *pgxpool.Pool
	redact redact
	queue  *groupcommit.Queue[*operation]
	owner  *owner
	closed atomic.Bool
}

var _ idempotency.Store = (*Store)(nil)

var (
	errNotHeld = errors.New("the connection that tells others that this process lives is down; nothing was written, try again")
	errUnclear = errors.New("the connection was lost; the record was removed, or changed by someone else")
)

// Put is part of [idempotency.Store]. If ctx ends, or the turn does not come within 5s, before the write has begun, it
// returns an error and nothing was written. Once begun the write is finished and told truly, whatever becomes of ctx: if the
// connection is lost in the middle the write is tried again, and since versions are unique, one that had arrived after all is
// recognised. A claim waits up to 0.9s for the lock of its owner if that was just lost. Only if the connection cannot be had back within 5s may the record have been written in spite of the error.
func (s *Store) Put(ctx context.Context, next idempotency.Record, expected int64) (idempotency.Record, bool, error) {
	next.Owned = false
	if next.State == idempotency.Claimed && next.Owner == s.owner.name && !s.owner.holds(ctx) {
		return idempotency.Record{}, false, s.redact.explain("writing to", errNotHeld)
	}
	op, err := s.write(ctx, next, row.Put(next, expected))
	if err != nil {
		return idempotency.Record{}, false, s.redact.explain("writing to", err)
	}
	if op.changed > 0 {
		return next, true, nil
	}
	if op.unclear {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(context.WithoutCancel(ctx), writeLimit, errSlow)
		defer cancel()
	}
	newest, err := s.query(ctx, row.Newest(next))
	if err != nil || len(newest) == 0 {
		return idempotency.Record{}, false, s.redact.explain("reading", err)
	}
	return newest[0], newest[0].Version == next.Version, nil
}

// Delete is part of [idempotency.Store]. Its errors mean what those of [Store.Put] mean.
func (s *Store) Delete(ctx context.Context, record idempotency.Record) (bool, error) {
	op, err := s.write(ctx, record, row.Delete(record))
	if err == nil && op.changed == 0 && op.unclear {
		err = errUnclear
	}
	if err != nil {
		return false, s.redact.explain("writing to", err)
	}
	return op.changed > 0, nil
}

// Find is part of [idempotency.Store]. It never waits for writers, and for the server 5s at the most.
func (s *Store) Find(ctx context.Context, query idempotency.Query) ([]idempotency.Record, error) {
	found, err := s.query(ctx, row.Find(query))
	if err != nil {
		return nil, s.redact.explain("reading", err)
	}
	return found, nil
}

func (s *Store) query(ctx context.Context, statement row.Statement) ([]idempotency.Record, error) {
	var found []idempotency.Record
	err := reading(ctx, func(ctx context.Context) error {
		rows, err := s.pool.Query(ctx, row.Numbered(statement.SQL), statement.Args...)
		if err != nil {
			return err
		}
		found, err = pgx.CollectRows(rows, func(r pgx.CollectableRow) (idempotency.Record, error) { return row.Scan(r.Scan) })
		return err
	})
	return found, err
}

// One call of Purge removes at most purgeSteps × purgeStep records, so that the call that happens to start it does not wait
// for long.
const (
	purgeStep  = 1000
	purgeSteps = 20
)

// Purge is part of [idempotency.Store]. It removes at most 20,000 records, the oldest first; the next call goes on. Records
// that another process is purging or changing at the same time are left to it.
func (s *Store) Purge(ctx context.Context, before time.Time) (int, error) {
	total := 0
	for range purgeSteps {
		op, err := s.write(ctx, idempotency.Record{}, row.Purge(before, purgeStep, " FOR UPDATE SKIP LOCKED"))
		if err != nil {
			return total, s.redact.explain("purging", err)
		}
		if total += int(op.changed); op.changed < purgeStep {
			break
		}
	}
	return total, nil
}

// Owner is part of [idempotency.Store].
func (s *Store) Owner() string { return s.owner.name }

// Alive is part of [idempotency.Store]. The package documentation says when an owner is taken for dead.
func (s *Store) Alive(ctx context.Context, name string) (bool, error) {
	if name == s.owner.name {
		return !s.closed.Load(), nil
	}
	var alive bool
	err := reading(ctx, func(ctx context.Context) (err error) {
		alive, err = s.owner.others.alive(ctx, s.pool, name)
		return err
	})
	if err != nil {
		return false, s.redact.explain("asking who uses", err)
	}
	return alive, nil
}

// Close is part of [idempotency.Store]. It waits for the write under way; those that wait for their turn are refused. Only
// the first call does anything.
func (s *Store) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	s.queue.Close()
	s.owner.close()
	s.pool.Close()
	return nil
}
