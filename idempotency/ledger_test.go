package idempotency_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/idempotency"
)

func identity(message string) idempotency.Identity {
	return idempotency.Identity{
		Fingerprint: idempotency.Fingerprint("KITE-142", message), Group: "KITE-142",
		Key: func(generation int) string { return idempotency.GenerationKey(generation, "KITE-142", message) },
	}
}

func inMemory() *idempotency.Ledger {
	return idempotency.NewLedger(new(idempotency.Memory), idempotency.Config{Scope: "test"})
}

func claim(t *testing.T, ledger *idempotency.Ledger, last idempotency.Record) idempotency.Record {
	t.Helper()
	record, err := ledger.Claim(t.Context(), identity("Any update?"), last)
	require.NoError(t, err)
	return record
}

func save(t *testing.T, ledger *idempotency.Ledger, record idempotency.Record, state idempotency.State) idempotency.Record {
	t.Helper()
	record.State = state
	require.NoError(t, ledger.Save(t.Context(), &record))
	return record
}

func TestLedger(t *testing.T) {
	none := idempotency.Record{}
	const first = "9edb4ee9f524df95"
	second := idempotency.GenerationKey(2, "KITE-142", "Any update?")

	t.Run("the first claim owns the call, the second sees it", func(t *testing.T) {
		ledger := inMemory()
		record := claim(t, ledger, none)
		require.True(t, record.Owned)
		require.Equal(t, idempotency.Claimed, record.State)
		require.Equal(t, first, record.Key)
		require.Equal(t, 1, record.Generation)

		seen := claim(t, ledger, none)
		require.False(t, seen.Owned)
		require.Equal(t, idempotency.Claimed, seen.State)
	})
	t.Run("a certain failure leaves nothing behind", func(t *testing.T) {
		ledger := inMemory()
		require.NoError(t, ledger.Forget(t.Context(), claim(t, ledger, none)))
		record := claim(t, ledger, none)
		require.True(t, record.Owned)
		require.Equal(t, first, record.Key)
	})
	t.Run("the next claim is a new generation after what happened, the same one after what did not", func(t *testing.T) {
		for state, key := range map[idempotency.State]string{
			idempotency.Finished: second, idempotency.Settled: second,
			idempotency.Unconfirmed: first, idempotency.Held: first, idempotency.Abandoned: first,
		} {
			ledger := inMemory()
			save(t, ledger, claim(t, ledger, none), state)
			seen := claim(t, ledger, none)
			require.False(t, seen.Owned)
			require.Equal(t, state, seen.State)
			next := claim(t, ledger, seen)
			require.True(t, next.Owned, state)
			require.Equal(t, key, next.Key, state)
		}
	})
	t.Run("generations are kept, the newest is what a claim meets", func(t *testing.T) {
		ledger := inMemory()
		done := save(t, ledger, claim(t, ledger, none), idempotency.Finished)
		save(t, ledger, claim(t, ledger, done), idempotency.Finished)
		require.Equal(t, 2, claim(t, ledger, none).Generation)
		require.Equal(t, 2, claim(t, ledger, done).Generation, "a claim on an old generation fails")
		newest, err := ledger.Look(t.Context(), done.Fingerprint)
		require.NoError(t, err)
		require.Equal(t, 2, newest.Generation)
	})
	t.Run("a late owner cannot overwrite what came after it", func(t *testing.T) {
		ledger := inMemory()
		late := claim(t, ledger, none)
		require.NoError(t, ledger.Forget(t.Context(), late))
		current := claim(t, ledger, none)
		late.State = idempotency.Finished
		require.ErrorIs(t, ledger.Save(t.Context(), &late), idempotency.ErrMoved)
		require.ErrorIs(t, ledger.Forget(t.Context(), late), idempotency.ErrMoved)
		require.NoError(t, ledger.Forget(t.Context(), current))
	})
	t.Run("of many claims at once one wins", func(t *testing.T) {
		ledger := inMemory()
		var owners atomic.Int32
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				if record, _ := ledger.Claim(t.Context(), identity("x"), none); record.Owned {
					owners.Add(1)
				}
			})
		}
		all.Wait()
		require.EqualValues(t, 1, owners.Load())
	})
	t.Run("open are the claimed, the unconfirmed and the settled", func(t *testing.T) {
		ledger := inMemory()
		for _, state := range []idempotency.State{
			idempotency.Claimed, idempotency.Unconfirmed, idempotency.Settled,
			idempotency.Finished, idempotency.Held, idempotency.Abandoned,
		} {
			record, err := ledger.Claim(t.Context(), identity(string(state)), none)
			require.NoError(t, err)
			save(t, ledger, record, state)
		}
		open, err := ledger.Open(t.Context(), "KITE-142")
		require.NoError(t, err)
		require.Len(t, open, 3)
		open, err = ledger.Open(t.Context(), "KITE-143")
		require.NoError(t, err)
		require.Empty(t, open)
	})
}

// dying is a store whose owners can die.
type dying struct {
	idempotency.Memory
	owner string
	dead  map[string]bool
}

func (d *dying) Owner() string { return d.owner }

func (d *dying) Alive(_ context.Context, owner string) (bool, error) { return !d.dead[owner], nil }

func TestLeases(t *testing.T) {
	none := idempotency.Record{}
	run := func(name string, test func(t *testing.T, store *dying, ledger *idempotency.Ledger)) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &dying{owner: "first", dead: map[string]bool{}}
				test(t, store, idempotency.NewLedger(store, idempotency.Config{}))
			})
		})
	}
	run("the claim of a dead owner is unconfirmed at once, never free", func(t *testing.T, store *dying, ledger *idempotency.Ledger) {
		mine := claim(t, ledger, none)
		store.dead["first"] = true
		seen := claim(t, ledger, none)
		require.False(t, seen.Owned)
		require.Equal(t, idempotency.Unconfirmed, seen.State)
		mine.State = idempotency.Finished
		require.ErrorIs(t, ledger.Save(t.Context(), &mine), idempotency.ErrMoved, "the dead are fenced off")
	})
	run("so is one whose lease has run out", func(t *testing.T, _ *dying, ledger *idempotency.Ledger) {
		claim(t, ledger, none)
		time.Sleep(time.Minute - time.Nanosecond)
		require.Equal(t, idempotency.Claimed, claim(t, ledger, none).State)
		time.Sleep(time.Nanosecond)
		require.Equal(t, idempotency.Unconfirmed, claim(t, ledger, none).State)
	})
	run("who was stopped for a while finds out that the claim has passed on", func(t *testing.T, store *dying, ledger *idempotency.Ledger) {
		stands, release := ledger.Hold(t.Context(), claim(t, ledger, none))
		defer release()
		time.Sleep(2 * time.Second)
		require.NoError(t, stands(t.Context()))
		store.dead["first"] = true
		require.Equal(t, idempotency.Unconfirmed, claim(t, ledger, none).State)
		time.Sleep(2 * time.Second)
		require.ErrorIs(t, stands(t.Context()), idempotency.ErrMoved)
	})
	run("a lease that is held does not run out", func(t *testing.T, _ *dying, ledger *idempotency.Ledger) {
		_, release := ledger.Hold(t.Context(), claim(t, ledger, none))
		time.Sleep(time.Hour)
		require.Equal(t, idempotency.Claimed, claim(t, ledger, none).State)
		record := release()
		record.State = idempotency.Finished
		require.NoError(t, ledger.Save(t.Context(), &record))
		time.Sleep(time.Hour)
		require.Equal(t, idempotency.Finished, claim(t, ledger, none).State)
	})
}

func TestLedgerKeepsRecordsForTheRetention(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ledger := idempotency.NewLedger(new(idempotency.Memory), idempotency.Config{Retention: time.Hour})
		save(t, ledger, claim(t, ledger, idempotency.Record{}), idempotency.Finished)
		time.Sleep(59 * time.Minute)
		require.Equal(t, idempotency.Finished, claim(t, ledger, idempotency.Record{}).State)
		time.Sleep(12 * time.Minute)
		require.True(t, claim(t, ledger, idempotency.Record{}).Owned, "purged")
	})
}
