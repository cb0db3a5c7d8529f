package storetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/idempotency"
)

func insert(t *testing.T, store idempotency.Store) {
	first, second := record("a"), record("a")
	second.Tool = "second"
	require.Equal(t, first, mustPut(t, store, first, 0))

	stored, written, err := store.Put(t.Context(), second, 0)
	require.NoError(t, err)
	require.False(t, written)
	require.Equal(t, first, stored)

	stored, written, err = store.Put(t.Context(), record("b"), 7)
	require.NoError(t, err)
	require.False(t, written, "nothing is there to be replaced")
	require.Equal(t, idempotency.Record{}, stored)
	require.Empty(t, find(t, store, idempotency.Query{Fingerprint: "b"}))
}

func replace(t *testing.T, store idempotency.Store) {
	first := mustPut(t, store, record("a"), 0)
	second := next(first, idempotency.Finished)
	require.Equal(t, second, mustPut(t, store, second, first.Version))

	late := next(first, idempotency.Unconfirmed)
	stored, written, err := store.Put(t.Context(), late, first.Version)
	require.NoError(t, err)
	require.False(t, written, "a late owner overwrote what came after it")
	require.Equal(t, second, stored)
	require.Equal(t, []idempotency.Record{second}, find(t, store, idempotency.Query{}))
}

func generations(t *testing.T, store idempotency.Store) {
	first := mustPut(t, store, record("a"), 0)
	third, second := record("a"), record("a")
	third.Generation, second.Generation = 3, 2
	mustPut(t, store, third, 0)
	mustPut(t, store, second, 0)

	stored, written, err := store.Put(t.Context(), record("a"), 0)
	require.NoError(t, err)
	require.False(t, written)
	require.Equal(t, third, stored, "a refused put shows the newest generation, whatever was written last")

	changed := mustPut(t, store, next(first, idempotency.Abandoned), first.Version)
	require.ElementsMatch(t, []idempotency.Record{changed, second, third}, find(t, store, idempotency.Query{Fingerprint: "a"}))
}

func versions(t *testing.T, store idempotency.Store) {
	first := mustPut(t, store, record("a"), 0)
	second := mustPut(t, store, next(first, idempotency.Unconfirmed), first.Version)
	third := mustPut(t, store, next(second, idempotency.Claimed), second.Version)
	for _, gone := range []idempotency.Record{first, second} {
		_, written, err := store.Put(t.Context(), next(third, idempotency.Finished), gone.Version)
		require.NoError(t, err)
		require.False(t, written, "claimed as before is not the claim from before")
		removed, err := store.Delete(t.Context(), gone)
		require.NoError(t, err)
		require.False(t, removed)
	}
	require.Equal(t, []idempotency.Record{third}, find(t, store, idempotency.Query{}))
}

func remove(t *testing.T, store idempotency.Store) {
	kept, gone := mustPut(t, store, record("kept"), 0), mustPut(t, store, record("gone"), 0)
	for _, wrong := range []func(*idempotency.Record){
		func(r *idempotency.Record) { r.Version++ },
		func(r *idempotency.Record) { r.Generation++ },
		func(r *idempotency.Record) { r.Scope = "elsewhere" },
		func(r *idempotency.Record) { r.Fingerprint = "other" },
	} {
		other := gone
		wrong(&other)
		removed, err := store.Delete(t.Context(), other)
		require.NoError(t, err)
		require.False(t, removed)
	}
	removed, err := store.Delete(t.Context(), gone)
	require.NoError(t, err)
	require.True(t, removed)
	removed, err = store.Delete(t.Context(), gone)
	require.NoError(t, err)
	require.False(t, removed, "removed twice")
	require.Equal(t, []idempotency.Record{kept}, find(t, store, idempotency.Query{}))
	mustPut(t, store, record("gone"), 0)
}
