package storetest

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/idempotency"
)

// noon is when the records of the suite were last changed, with as many digits as every store must keep.
var noon = time.Date(2026, 3, 4, 12, 0, 0, 123456000, time.UTC)

// record returns a claimed record of that fingerprint with a version of its own.
func record(fingerprint string) idempotency.Record {
	return idempotency.Record{
		Scope: "https://kitebase.example", Fingerprint: fingerprint, Group: "KITE-142", Generation: 1, Key: "key-" + fingerprint,
		Tool: "reply_to_customer", State: idempotency.Claimed, Owner: "4711-A", Lease: noon.Add(time.Minute),
		FirstAt: noon, LastAt: noon, Version: version(),
	}
}

// next returns what follows r in that state.
func next(r idempotency.Record, state idempotency.State) idempotency.Record {
	r.State, r.LastAt, r.Version = state, r.LastAt.Add(time.Second), version()
	return r
}

func version() int64 { return 1 + rand.Int64N(1<<62) }

// everyField fills a record by reflection, so that a field that is added later and that a store forgets is found.
func everyField(t *testing.T, store idempotency.Store) {
	var r idempotency.Record
	v := reflect.ValueOf(&r).Elem()
	for i := range v.NumField() {
		name, field := v.Type().Field(i).Name, v.Field(i)
		switch field.Interface().(type) {
		case string, idempotency.State:
			field.SetString("value of " + name)
		case int, int64:
			field.SetInt(int64(i) + 1000)
		case time.Time:
			field.Set(reflect.ValueOf(noon.Add(time.Duration(i) * time.Hour)))
		case []byte:
			field.SetBytes([]byte(name))
		case bool:
			field.SetBool(true)
		default:
			require.Fail(t, "no value for a field of this type", "%s %s", name, field.Type())
		}
	}
	stored := mustPut(t, store, r, 0)
	r.Owned = false // the one field that is not stored
	require.Equal(t, r, stored)
	require.Equal(t, []idempotency.Record{r}, find(t, store, idempotency.Query{}))

	changed := r
	changed.State, changed.Result, changed.Evidence, changed.Version = idempotency.Finished, []byte("{}"), "answer", version()
	changed.Key, changed.Group, changed.Tool, changed.Owner, changed.CallID = "k", "g", "t", "o", "c"
	mustPut(t, store, changed, r.Version)
	require.Equal(t, []idempotency.Record{changed}, find(t, store, idempotency.Query{}))
}

func times(t *testing.T, store idempotency.Store) {
	for name, at := range map[string]time.Time{
		"zero": {}, "with microseconds": noon, "long ago": time.Date(1985, 1, 1, 0, 0, 0, 0, time.UTC),
		"far ahead": time.Date(2199, 12, 31, 23, 59, 59, 999999000, time.UTC),
		"elsewhere": noon.In(time.FixedZone("", 5*60*60+30*60)), "now": time.Now(),
	} {
		r := record(name)
		r.Lease, r.FirstAt, r.LastAt = at, at, at
		mustPut(t, store, r, 0)
		got := find(t, store, idempotency.Query{Fingerprint: name})[0]
		for _, back := range []time.Time{got.Lease, got.FirstAt, got.LastAt} {
			require.WithinDuration(t, at, back, time.Microsecond, name)
			require.Equal(t, at.IsZero(), back.IsZero(), name)
		}
	}
}

func results(t *testing.T, store idempotency.Store) {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	for name, result := range map[string][]byte{
		"none": nil, "empty": {}, "json": []byte(`{"reply_id":"rpl_001"}`), "all bytes": all, "large": make([]byte, 1<<20),
	} {
		r := record(name)
		r.Result = result
		require.Equal(t, result, mustPut(t, store, r, 0).Result, name)
		require.Equal(t, result, find(t, store, idempotency.Query{Fingerprint: name})[0].Result, name)
	}
}

// oddStrings are valid UTF-8 without NUL; more is not asked of a store.
func oddStrings(t *testing.T, store idempotency.Store) {
	odd := []string{
		"'; DROP TABLE records; --", `"double"`, "`back`", `\`, "%_?$1?1:name@x", "two\nlines\r\n\ttab", " ", "  blank ends  ",
		"naïve", "e\u0301", "\u00e9", "日本語", "👩‍👩‍👧‍👦", "\u202eright to left", "\ufeff", "\x01\x1f\x7f", "NULL", "0", "1e3",
		strings.Repeat("long ", 400), "Any Update?", "any update?",
	}
	for _, s := range odd {
		r := record(s)
		r.Key, r.Group, r.Scope, r.Tool, r.Evidence, r.Owner, r.CallID = s, s, s, s, s, s, s
		mustPut(t, store, r, 0)
		require.Equal(t, []idempotency.Record{r}, find(t, store, idempotency.Query{Scope: s, Fingerprint: s, Group: s, Key: s}), "%q", s)
		require.Equal(t, []idempotency.Record{r}, find(t, store, idempotency.Query{Key: s}), "%q", s)
	}
	require.Len(t, find(t, store, idempotency.Query{}), len(odd), "two were taken for the same")
}
