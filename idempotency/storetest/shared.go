package storetest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/idempotency"
)

// Opener opens a store at an address: a path, a URL.
type Opener func(ctx context.Context, address string) (idempotency.Store, error)

// RunShared runs the part of the suite for stores that outlive their process and that several processes share. fresh returns
// the address of an empty medium. [Main] must be given the same opener.
func RunShared(t *testing.T, open Opener, fresh func(testing.TB) string) {
	m := medium{open, fresh}
	t.Run("what was written is there after reopening", m.reopened)
	t.Run("two handles see each other's changes and fence each other", m.twoHandles)
	t.Run("of many handles that claim one call one wins", m.manyHandles)
	t.Run("an owner lives until it is closed", m.closedOwner)
	t.Run("nothing works after Close, and Close may be repeated", m.closed)
	t.Run("processes that open a fresh medium at once", m.freshRace)
	t.Run("processes that claim and complete at once", m.hardWork)
	t.Run("a killed owner is dead, and its claim is still there", m.killedOwner)
	t.Run("what killed processes said to be written is there", m.killedWriters)
}

type medium struct {
	open  Opener
	fresh func(testing.TB) string
}

// at opens a store that the test closes.
func (m medium) at(t *testing.T, address string) idempotency.Store {
	t.Helper()
	store, err := m.open(t.Context(), address)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	return store
}

func (m medium) reopened(t *testing.T) {
	address := m.fresh(t)
	first := m.at(t, address)
	kept := mustPut(t, first, record("kept"), 0)
	gone := mustPut(t, first, record("gone"), 0)
	_, err := first.Delete(t.Context(), gone)
	require.NoError(t, err)
	require.NoError(t, first.Close())

	second := m.at(t, address)
	require.NotEqual(t, first.Owner(), second.Owner())
	require.Equal(t, []idempotency.Record{kept}, find(t, second, idempotency.Query{}))
	mustPut(t, second, next(kept, idempotency.Finished), kept.Version)
}

func (m medium) twoHandles(t *testing.T) {
	address := m.fresh(t)
	one, two := m.at(t, address), m.at(t, address)
	claim := mustPut(t, one, record("a"), 0)
	require.Equal(t, []idempotency.Record{claim}, find(t, two, idempotency.Query{}))
	taken := mustPut(t, two, next(claim, idempotency.Unconfirmed), claim.Version)

	stored, written, err := one.Put(t.Context(), next(claim, idempotency.Finished), claim.Version)
	require.NoError(t, err)
	require.False(t, written, "a late owner overwrote what came after it")
	require.Equal(t, taken, stored)
	removed, err := one.Delete(t.Context(), claim)
	require.NoError(t, err)
	require.False(t, removed)
}

func (m medium) manyHandles(t *testing.T) {
	address := m.fresh(t)
	stores := make([]idempotency.Store, 4)
	for i := range stores {
		stores[i] = m.at(t, address)
	}
	won := make([]int, callers)
	failed := make([]error, callers)
	together(func(i int) {
		for key := range 20 {
			_, written, err := stores[i%len(stores)].Put(t.Context(), record(string(rune('a'+key))), 0)
			if err != nil {
				failed[i] = err
			}
			if written {
				won[i]++
			}
		}
	})
	total := 0
	for i := range callers {
		require.NoError(t, failed[i])
		total += won[i]
	}
	require.Equal(t, 20, total)
}

func (m medium) closedOwner(t *testing.T) {
	address := m.fresh(t)
	one, two := m.at(t, address), m.at(t, address)
	require.NotEqual(t, one.Owner(), two.Owner())
	for _, pair := range [][2]idempotency.Store{{one, two}, {two, one}} {
		alive, err := pair[0].Alive(t.Context(), pair[1].Owner())
		require.NoError(t, err)
		require.True(t, alive)
	}
	require.NoError(t, two.Close())
	m.dies(t, one, two.Owner())
	alive, err := one.Alive(t.Context(), one.Owner())
	require.NoError(t, err)
	require.True(t, alive)
}

// dies waits until the store takes the owner for dead.
func (m medium) dies(t *testing.T, store idempotency.Store, owner string) {
	t.Helper()
	require.Eventually(t, func() bool {
		alive, err := store.Alive(t.Context(), owner)
		return err == nil && !alive
	}, watchdog, pause)
}

func (m medium) closed(t *testing.T) {
	store := m.at(t, m.fresh(t))
	require.NoError(t, store.Close())
	require.NoError(t, store.Close())
	_, written, err := store.Put(t.Context(), record("a"), 0)
	require.Error(t, err)
	require.False(t, written)
	_, err = store.Delete(t.Context(), record("a"))
	require.Error(t, err)
	_, err = store.Find(t.Context(), idempotency.Query{})
	require.Error(t, err)
	_, err = store.Purge(t.Context(), noon)
	require.Error(t, err)
}
