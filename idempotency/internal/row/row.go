// Package row holds what the SQL stores share: how a record becomes a row, and the statements that both dialects understand.
//
// Times are stored as nanoseconds since 1970 in one integer, 0 for the zero time: exact, ordered, and the same in each
// database. A statement marks its parameters by ?, in order; [Numbered] writes them as $1, $2 for PostgreSQL.
package row

import (
	"strconv"
	"strings"
	"time"

	"github.com/kitebase/kitebase-mcp/idempotency"
)

// columns are those of the table records, in the order of [Values] and [Scan]. The first three name the record.
const columns = "scope, fingerprint, generation, group_name, key, tool, state, owner, lease, attempts, call_id, host_repeats, " +
	"model_repeats, first_at, last_at, result, evidence, version"

// Values returns the values of record in the order of the columns.
func Values(r idempotency.Record) []any {
	return []any{
		r.Scope, r.Fingerprint, int64(r.Generation), r.Group, r.Key, r.Tool, string(r.State), r.Owner, nanos(r.Lease),
		int64(r.Attempts), r.CallID, int64(r.HostRepeats), int64(r.ModelRepeats), nanos(r.FirstAt), nanos(r.LastAt), r.Result,
		r.Evidence, r.Version,
	}
}

// Scan reads one row of the columns by the Scan method of a driver.
func Scan(scan func(...any) error) (idempotency.Record, error) {
	var r idempotency.Record
	var lease, first, last int64
	var result any // tells NULL from the empty blob, which []byte does not with every driver
	err := scan(&r.Scope, &r.Fingerprint, &r.Generation, &r.Group, &r.Key, &r.Tool, &r.State, &r.Owner, &lease,
		&r.Attempts, &r.CallID, &r.HostRepeats, &r.ModelRepeats, &first, &last, &result, &r.Evidence, &r.Version)
	if err != nil {
		return idempotency.Record{}, err
	}
	r.Lease, r.FirstAt, r.LastAt = moment(lease), moment(first), moment(last)
	if blob, ok := result.([]byte); ok {
		r.Result = append([]byte{}, blob...)
	}
	return r, nil
}

// Numbered returns the statement with its parameters written as $1, $2 and so on.
func Numbered(sql string) string {
	parts := strings.Split(sql, "?")
	var b strings.Builder
	for i, part := range parts {
		if i > 0 {
			b.WriteString("$" + strconv.Itoa(i))
		}
		b.WriteString(part)
	}
	return b.String()
}

func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func moment(nanos int64) time.Time {
	if nanos == 0 {
		return time.Time{}
	}
	return time.Unix(0, nanos).UTC()
}
