package row

import (
	"cmp"
	"strings"
	"time"

	"github.com/kitebase/kitebase-mcp/idempotency"
)

// Statement is one SQL statement with its arguments.
type Statement struct {
	SQL  string
	Args []any
}

const (
	named  = "scope = ? AND fingerprint = ? AND generation = ?"
	remove = "DELETE FROM records WHERE " + named + " AND version = ?"
	newest = "SELECT " + columns + " FROM records WHERE scope = ? AND fingerprint = ? ORDER BY generation DESC LIMIT 1"
	// kept says that a generation of the call is claimed or was changed since; it takes that time.
	kept = "EXISTS (SELECT 1 FROM records AS kept WHERE kept.scope = records.scope AND kept.fingerprint = records.fingerprint " +
		"AND (kept.last_at >= ? OR kept.state = 'claimed'))"
	old   = "FROM records WHERE last_at < ? AND state <> 'claimed' AND NOT " + kept + " ORDER BY last_at LIMIT ?"
	purge = "DELETE FROM records WHERE (scope, fingerprint, generation) IN (SELECT scope, fingerprint, generation " + old
)

var (
	insert = "INSERT INTO records (" + columns + ") VALUES (?" + strings.Repeat(", ?", strings.Count(columns, ",")) + ") " +
		"ON CONFLICT (scope, fingerprint, generation) DO NOTHING"
	update = "UPDATE records SET " + strings.ReplaceAll(strings.TrimPrefix(columns, "scope, fingerprint, generation, "), ",", " = ?,") +
		" = ? WHERE " + named + " AND version = ?"
)

// Put writes next in place of the version expected, 0 for none, in one statement: it changes one row or none.
func Put(next idempotency.Record, expected int64) Statement {
	values := Values(next)
	if expected == 0 {
		return Statement{insert, values}
	}
	const name = 3 // the first columns name the record
	args := append(values[name:len(values):len(values)], values[:name]...)
	return Statement{update, append(args, expected)}
}

// Delete removes the record if it still has its version: it changes one row or none.
func Delete(r idempotency.Record) Statement {
	return Statement{remove, []any{r.Scope, r.Fingerprint, int64(r.Generation), r.Version}}
}

// Newest selects the newest generation of the same call.
func Newest(r idempotency.Record) Statement {
	return Statement{newest, []any{r.Scope, r.Fingerprint}}
}

// Purge removes up to limit records of calls of which no generation was changed since that time or is claimed, the oldest
// first. suffix ends the inner select, for a lock clause.
func Purge(before time.Time, limit int, suffix string) Statement {
	return Statement{purge + suffix + ")", []any{nanos(before), nanos(before), int64(limit)}}
}

// Old selects what [Purge] with that limit would remove.
func Old(before time.Time, limit int) Statement {
	return Statement{"SELECT " + columns + " " + old, []any{nanos(before), nanos(before), int64(limit)}}
}

// Outdated removes a record of [Old], unless it or its call is no longer old.
func Outdated(r idempotency.Record, before time.Time) Statement {
	return Statement{remove + " AND NOT " + kept, []any{r.Scope, r.Fingerprint, int64(r.Generation), r.Version, nanos(before)}}
}

// defaultLimit is the default of [idempotency.Query].Limit.
const defaultLimit = 1000

// Find selects what q asks for, those changed last first.
func Find(q idempotency.Query) Statement {
	w := where{}
	w.equal("scope", q.Scope)
	w.equal("fingerprint", q.Fingerprint)
	w.equal("group_name", q.Group)
	w.equal("key", q.Key)
	w.states(q.States)
	if !q.Since.IsZero() {
		w.add("last_at >= ?", nanos(q.Since))
	}
	if !q.Before.IsZero() {
		w.add("last_at < ?", nanos(q.Before))
	}
	sql := "SELECT " + columns + " FROM records"
	if len(w.terms) > 0 {
		sql += " WHERE " + strings.Join(w.terms, " AND ")
	}
	limit := cmp.Or(max(0, q.Limit), defaultLimit)
	return Statement{sql + " ORDER BY last_at DESC, generation DESC LIMIT ?", append(w.args, int64(limit))}
}

type where struct {
	terms []string
	args  []any
}

func (w *where) add(term string, args ...any) {
	w.terms = append(w.terms, term)
	w.args = append(w.args, args...)
}

func (w *where) equal(column, value string) {
	if value != "" {
		w.add(column+" = ?", value)
	}
}

// states limits the states. Nearly all records are done; the index of the others is used only if the statement says, in the
// words of the index, that it wants none of those.
func (w *where) states(states []idempotency.State) {
	if len(states) == 0 {
		return
	}
	var args []any
	settled := false
	for _, s := range states {
		args = append(args, string(s))
		settled = settled || s == idempotency.Finished
	}
	w.add("state IN (?"+strings.Repeat(", ?", len(states)-1)+")", args...)
	if !settled {
		w.add("state <> 'done'")
	}
}
