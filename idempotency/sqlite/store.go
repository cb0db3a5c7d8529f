package sqlite

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/idempotency/internal/groupcommit"
	"github.com/kitebase/kitebase-mcp/idempotency/internal/row"
)

// lockWait is how long a write waits for its turn. It leaves a call, whose deadline is 25s by default, time to say so.
const lockWait = 5 * time.Second

// Store is an [idempotency.Store] in a SQLite file. It is safe for concurrent use, and any number of stores, in this process
// and others, may be open on one file.
type Store struct {
	path   string
	file   *file
	queue  *groupcommit.Queue[operation]
	owner  *owner
	closed atomic.Bool
}

var _ idempotency.Store = (*Store)(nil)

// Put is part of [idempotency.Store]. If ctx ends, or the turn does not come within 5s, before the write has begun, it
// returns an error and nothing was written. Once begun the write is finished and told truly. Any other error comes from the
// disk; the transaction was then rolled back, and only a crash that follows at once could still bring it back.
func (s *Store) Put(ctx context.Context, next idempotency.Record, expected int64) (idempotency.Record, bool, error) {
	var stored idempotency.Record
	var written bool
	err := s.write(ctx, func(w *writer) (err error) {
		n, err := w.exec(row.Put(next, expected))
		if written = n > 0; err != nil || written {
			return err
		}
		stored, err = w.newest(next)
		return err
	})
	if err != nil {
		return idempotency.Record{}, false, explain("writing to", s.path, err)
	}
	if written {
		stored, stored.Owned = next, false
	}
	return stored, written, nil
}

// Delete is part of [idempotency.Store]. Its errors mean what those of [Store.Put] mean.
func (s *Store) Delete(ctx context.Context, record idempotency.Record) (bool, error) {
	var removed int
	err := s.write(ctx, func(w *writer) (err error) {
		removed, err = w.exec(row.Delete(record))
		return err
	})
	if err != nil {
		return false, explain("writing to", s.path, err)
	}
	return removed > 0, nil
}

// Find is part of [idempotency.Store]. It never waits for writers.
func (s *Store) Find(ctx context.Context, query idempotency.Query) ([]idempotency.Record, error) {
	found, err := s.read(ctx, row.Find(query))
	if err != nil {
		return nil, explain("reading", s.path, err)
	}
	return found, nil
}

func (s *Store) read(ctx context.Context, query row.Statement) ([]idempotency.Record, error) {
	rows, err := s.file.reads.QueryContext(ctx, query.SQL, query.Args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // whatever went wrong is in rows.Err
	var found []idempotency.Record
	for rows.Next() {
		record, err := row.Scan(rows.Scan)
		if err != nil {
			return nil, err
		}
		found = append(found, record)
	}
	return found, rows.Err()
}

// One call of Purge removes at most purgeMost records, so that the call that happens to start it does not wait for long;
// claims get their turn between two steps.
const (
	purgeStep = 250
	purgeMost = 5000
)

// Purge is part of [idempotency.Store]. It removes at most 5,000 records, the oldest first; the next call goes on. The
// space is given back to the system.
func (s *Store) Purge(ctx context.Context, before time.Time) (int, error) {
	old, err := s.read(ctx, row.Old(before, purgeMost))
	if err != nil {
		return 0, explain("purging", s.path, err)
	}
	total := 0
	for step := range slices.Chunk(old, purgeStep) {
		var removed int
		err := s.write(ctx, func(w *writer) (err error) {
			removed, err = w.remove(step, before)
			return err
		})
		if err != nil {
			return total, explain("purging", s.path, err)
		}
		total += removed
	}
	return total, nil
}

// write runs op in a transaction, together with what else arrives.
func (s *Store) write(ctx context.Context, op operation) error {
	ctx, cancel := context.WithTimeoutCause(ctx, lockWait, errBusy)
	defer cancel()
	return s.queue.Do(ctx, op)
}

// Owner is part of [idempotency.Store].
func (s *Store) Owner() string { return s.owner.name }

// Alive is part of [idempotency.Store]. A killed owner is dead as soon as the system has closed its files.
func (s *Store) Alive(_ context.Context, name string) (bool, error) {
	if name == s.owner.name {
		return !s.closed.Load(), nil
	}
	alive, err := alive(s.path, name)
	if err != nil {
		return false, explain("asking who uses", s.path, err)
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
	if err := errors.Join(s.closeFile(), s.owner.close()); err != nil {
		return explain("closing", s.path, err)
	}
	return nil
}

// closeFile closes the database. SQLite's last closer moves the WAL into the file and deletes it; the lock keeps that apart
// from others who are just opening. If the lock cannot be had the file is closed without.
func (s *Store) closeFile() error {
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	if release, err := lockFile(ctx, lockPath(s.path)); err == nil {
		defer release()
	}
	return s.file.close()
}
