package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/idempotency/internal/row"
)

const (
	// turnWait is how long a write waits for the one before it, writeLimit how long it may take with its repetitions. Together
	// they leave a call, whose deadline is 25s by default, time to say so. So does readLimit.
	turnWait   = 5 * time.Second
	writeLimit = 5 * time.Second
	readLimit  = 5 * time.Second
	// tries is how often a transaction is tried that the server or the connection broke off.
	tries = 4
)

var errSlow = errors.New("the database does not answer in time")

// operation is one statement of a transaction.
type operation struct {
	name      string // of the record
	statement row.Statement
	changed   int64
	// unclear is set when the answer to a try was lost, so that it may have been written.
	unclear bool
}

// write runs the statement in a transaction, together with what else arrives.
func (s *Store) write(ctx context.Context, record idempotency.Record, statement row.Statement) (*operation, error) {
	for _, arg := range statement.Args {
		if text, ok := arg.(string); ok && (!utf8.ValidString(text) || strings.ContainsRune(text, 0)) {
			return nil, fmt.Errorf("%q is not valid UTF-8 without NUL", text)
		}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, turnWait, errSlow)
	defer cancel()
	op := &operation{
		name:      fmt.Sprintf("%s\x00%s\x00%d", record.Scope, record.Fingerprint, record.Generation),
		statement: statement,
	}
	return op, s.queue.Do(ctx, op)
}

// run runs the group in one transaction, and again if it was broken off.
func (s *Store) run(group []*operation) error {
	// All processes lock rows in one order, so that two transactions do not wait for each other.
	slices.SortStableFunc(group, func(a, b *operation) int { return cmp.Compare(a.name, b.name) })
	ctx, cancel := context.WithTimeoutCause(context.Background(), writeLimit, errSlow)
	defer cancel()
	return again(ctx, func() error { return s.send(ctx, group) }, func() {
		for _, op := range group {
			op.unclear = true
		}
	})
}

// again runs once, and again if it was broken off: a connection that has waited in the pool may be dead. unclear is called
// before each repetition of what may have been done already.
func again(ctx context.Context, once func() error, unclear func()) error {
	for try := 1; ; try++ {
		err := once()
		if err == nil || try == tries || !brokenOff(err) {
			return err
		}
		if !answered(err) && !pgconn.SafeToRetry(err) {
			unclear()
		}
		select {
		case <-time.After(time.Duration(try) * 50 * time.Millisecond):
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), err)
		}
	}
}

// reading runs what only reads, again if it was broken off. It gives up after readLimit: a connection whose other end has
// vanished without a word stays silent for as long as the system tries to deliver, a quarter of an hour.
func reading(ctx context.Context, once func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, readLimit, errSlow)
	defer cancel()
	err := again(ctx, func() error { return once(ctx) }, func() {})
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// send makes one round trip; PostgreSQL runs what is sent at once as one transaction.
func (s *Store) send(ctx context.Context, group []*operation) error {
	var batch pgx.Batch
	for _, op := range group {
		batch.Queue(row.Numbered(op.statement.SQL), op.statement.Args...).Exec(func(tag pgconn.CommandTag) error {
			op.changed = tag.RowsAffected()
			return nil
		})
	}
	return s.pool.SendBatch(ctx, &batch).Close()
}

// answered reports whether the error is the server's answer; the transaction was then certainly rolled back.
func answered(err error) bool {
	_, ok := errors.AsType[*pgconn.PgError](err)
	return ok
}

// brokenOff reports whether trying again may help: the connection was lost, or the server gave up for the sake of others or
// is shutting down (SQLSTATE classes 40 and 57; 08 is the connection).
func brokenOff(err error) bool {
	if failure, ok := errors.AsType[*pgconn.PgError](err); ok {
		return slices.Contains([]string{"40", "57", "08"}, failure.Code[:min(2, len(failure.Code))])
	}
	return !errors.Is(err, context.DeadlineExceeded)
}
