package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/idempotency"
)

func findByField(t *testing.T, store idempotency.Store) {
	for name, change := range map[string]func(*idempotency.Record){
		"plain":       func(*idempotency.Record) {},
		"other scope": func(r *idempotency.Record) { r.Scope = "https://other.example" },
		"other group": func(r *idempotency.Record) { r.Group = "KITE-7" },
		"other key":   func(r *idempotency.Record) { r.Key = "0123456789abcdef" },
	} {
		r := record(name)
		r.Key = "9edb4ee9f524df95"
		change(&r)
		mustPut(t, store, r, 0)
	}
	expect(t, store, []queried{
		{"everything", idempotency.Query{}, []string{"plain", "other scope", "other group", "other key"}},
		{"fingerprint", idempotency.Query{Fingerprint: "plain"}, []string{"plain"}},
		{"fingerprint in its scope", idempotency.Query{Scope: "https://kitebase.example", Fingerprint: "plain"}, []string{"plain"}},
		{"fingerprint in another scope", idempotency.Query{Scope: "https://other.example", Fingerprint: "plain"}, nil},
		{"scope", idempotency.Query{Scope: "https://other.example"}, []string{"other scope"}},
		{"group", idempotency.Query{Group: "KITE-7"}, []string{"other group"}},
		{"key", idempotency.Query{Key: "0123456789abcdef"}, []string{"other key"}},
		{"scope and group", idempotency.Query{Scope: "https://kitebase.example", Group: "KITE-142"}, []string{"plain", "other key"}},
		{"group and key", idempotency.Query{Group: "KITE-7", Key: "0123456789abcdef"}, nil},
		{"a scope's beginning", idempotency.Query{Scope: "https://kitebase"}, nil},
	})
}

func findByStateAndTime(t *testing.T, store idempotency.Store) {
	states := []idempotency.State{
		idempotency.Claimed, idempotency.Finished, idempotency.Unconfirmed, idempotency.Held, idempotency.Abandoned,
	}
	for i, state := range states {
		r := record(string(state))
		r.State, r.LastAt = state, noon.Add(time.Duration(i)*time.Hour)
		mustPut(t, store, r, 0)
	}
	only := func(states ...idempotency.State) idempotency.Query { return idempotency.Query{States: states} }
	expect(t, store, []queried{
		{"one state", only(idempotency.Unconfirmed), []string{"unknown"}},
		{"done", only(idempotency.Finished), []string{"done"}},
		{"two states", only(idempotency.Claimed, idempotency.Held), []string{"claimed", "held"}},
		{"done among others", only(idempotency.Finished, idempotency.Abandoned), []string{"done", "abandoned"}},
		{"a state that nobody is in", only("lost"), nil},
		{"since, to the point", idempotency.Query{Since: noon.Add(3 * time.Hour)}, []string{"held", "abandoned"}},
		{"before, not to the point", idempotency.Query{Before: noon.Add(time.Hour)}, []string{"claimed"}},
		{"between", idempotency.Query{Since: noon.Add(time.Hour), Before: noon.Add(3 * time.Hour)}, []string{"done", "unknown"}},
		{"state and time", idempotency.Query{States: states[2:4], Before: noon.Add(3 * time.Hour)}, []string{"unknown"}},
		{"state, group and time", idempotency.Query{States: states[:1], Group: "KITE-142", Since: noon}, []string{"claimed"}},
	})
}

type queried struct {
	name  string
	query idempotency.Query
	want  []string // fingerprints
}

func expect(t *testing.T, store idempotency.Store, all []queried) {
	t.Helper()
	for _, q := range all {
		var got []string
		for _, r := range find(t, store, q.query) {
			got = append(got, r.Fingerprint)
		}
		require.ElementsMatch(t, q.want, got, q.name)
	}
}

func findOrder(t *testing.T, store idempotency.Store) {
	for _, i := range []int{3, 0, 4, 1, 2} {
		r := record(fmt.Sprint("time ", i))
		r.LastAt = noon.Add(time.Duration(i) * time.Microsecond)
		mustPut(t, store, r, 0)
	}
	for _, generation := range []int{2, 1, 3} { // of one instant
		r := record("generation")
		r.Generation, r.LastAt = generation, noon.Add(-time.Hour)
		mustPut(t, store, r, 0)
	}
	var got []string
	for _, r := range find(t, store, idempotency.Query{}) {
		got = append(got, fmt.Sprint(r.Fingerprint, " #", r.Generation))
	}
	require.Equal(t, []string{
		"time 4 #1", "time 3 #1", "time 2 #1", "time 1 #1", "time 0 #1", "generation #3", "generation #2", "generation #1",
	}, got)
	newest := find(t, store, idempotency.Query{Fingerprint: "generation", Limit: 1})
	require.Len(t, newest, 1)
	require.Equal(t, 3, newest[0].Generation)
	require.Len(t, find(t, store, idempotency.Query{Limit: 2}), 2)
	require.Len(t, find(t, store, idempotency.Query{Limit: 99}), 8)
}

func purge(t *testing.T, store idempotency.Store) {
	put := func(name string, state idempotency.State, at time.Time) {
		r := record(name)
		r.State, r.LastAt, r.Scope = state, at, "scope of "+name
		mustPut(t, store, r, 0)
	}
	put("old done", idempotency.Finished, noon.Add(-time.Microsecond))
	put("old unknown", idempotency.Unconfirmed, noon.Add(-time.Hour))
	put("old held", idempotency.Held, noon.Add(-time.Hour))
	put("old abandoned", idempotency.Abandoned, noon.Add(-time.Hour))
	put("old claim", idempotency.Claimed, noon.Add(-time.Hour))
	put("new", idempotency.Finished, noon)
	put("made twice", idempotency.Finished, noon.Add(-time.Hour))
	again := record("made twice")
	again.Scope, again.Generation, again.LastAt = "scope of made twice", 2, noon
	mustPut(t, store, again, 0)

	n, err := store.Purge(t.Context(), noon)
	require.NoError(t, err)
	require.Equal(t, 4, n)
	expect(t, store, []queried{{"left", idempotency.Query{}, []string{"old claim", "new", "made twice", "made twice"}}})
	n, err = store.Purge(t.Context(), noon)
	require.NoError(t, err)
	require.Zero(t, n)
	first := next(again, idempotency.Claimed)
	first.Generation = 1
	_, written, err := store.Put(t.Context(), first, 0)
	require.NoError(t, err)
	require.False(t, written, "what was made twice can be claimed as if it had never been made")
}
