package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/idempotency/internal/row"
)

// operation is one part of a transaction. It may run twice, if the group it first ran in was rolled back.
type operation func(*writer) error

// writer is the one connection that writes. Only the worker of the queue uses it, so it needs no lock. Its context never
// ends: a transaction that has begun is finished.
type writer struct {
	conn     *sql.Conn
	prepared map[string]*sql.Stmt
}

func newWriter(conn *sql.Conn) *writer {
	return &writer{conn: conn, prepared: make(map[string]*sql.Stmt)}
}

// close gives the connection back. Statements that stay open would keep it, and SQLite's log, alive.
func (w *writer) close() error {
	var err error
	for _, stmt := range w.prepared {
		err = errors.Join(err, stmt.Close())
	}
	return errors.Join(err, w.conn.Close())
}

// run runs the group in one transaction. IMMEDIATE, since a transaction that reads first and then writes can find that it
// may not, and no waiting helps it.
func (w *writer) run(group []operation) error {
	if err := w.do("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	for _, op := range group {
		if err := op(w); err != nil {
			return w.rollback(err)
		}
	}
	if err := w.do("COMMIT"); err != nil {
		return w.rollback(err)
	}
	return nil
}

// rollback returns cause. SQLite may have rolled back by itself, so that failing is nothing to tell.
func (w *writer) rollback(cause error) error {
	_ = w.do("ROLLBACK")
	return cause
}

func (w *writer) do(sql string) error {
	_, err := w.exec(row.Statement{SQL: sql})
	return err
}

// exec runs one statement and returns how many rows it changed.
func (w *writer) exec(s row.Statement) (int, error) {
	stmt, err := w.prepare(s.SQL)
	if err != nil {
		return 0, err
	}
	result, err := stmt.ExecContext(context.Background(), s.Args...)
	if err != nil {
		return 0, err
	}
	n, err := result.RowsAffected()
	return int(n), err
}

// newest returns the newest generation of the call of record, or the zero Record.
func (w *writer) newest(record idempotency.Record) (idempotency.Record, error) {
	s := row.Newest(record)
	stmt, err := w.prepare(s.SQL)
	if err != nil {
		return idempotency.Record{}, err
	}
	found, err := row.Scan(stmt.QueryRowContext(context.Background(), s.Args...).Scan)
	if err == sql.ErrNoRows {
		return idempotency.Record{}, nil
	}
	return found, err
}

// remove deletes those of the records that are still older than that time, and returns how many.
func (w *writer) remove(records []idempotency.Record, before time.Time) (int, error) {
	total := 0
	for _, record := range records {
		n, err := w.exec(row.Outdated(record, before))
		if err != nil {
			return 0, err
		}
		total += n
	}
	if total == 0 {
		return 0, nil
	}
	return total, w.vacuum()
}

// vacuum gives the free pages back to the system. They are listed and moved step by step, so the statement must be read to
// its end.
func (w *writer) vacuum() error {
	rows, err := w.conn.QueryContext(context.Background(), "PRAGMA incremental_vacuum")
	if err != nil {
		return err
	}
	for rows.Next() { //nolint:revive // the rows are empty; reading them is what does the work
	}
	return rows.Close()
}

func (w *writer) prepare(sql string) (*sql.Stmt, error) {
	if stmt, ok := w.prepared[sql]; ok {
		return stmt, nil
	}
	stmt, err := w.conn.PrepareContext(context.Background(), sql)
	if err != nil {
		return nil, err
	}
	w.prepared[sql] = stmt
	return stmt, nil
}
