package idempotency_test

import (
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

func TestMemory(t *testing.T) {
	id, none := identity("Any update?"), idempotency.Record{}

	t.Run("the first claim owns the call, the second sees it", func(t *testing.T) {
		ledger := idempotency.NewMemory(0)
		first, err := ledger.Claim(t.Context(), id, none)
		require.NoError(t, err)
		require.True(t, first.Owned)
		require.Equal(t, idempotency.Claimed, first.State)
		require.Equal(t, "9edb4ee9f524df95", first.Key)
		require.Equal(t, 1, first.Generation)

		second, err := ledger.Claim(t.Context(), id, none)
		require.NoError(t, err)
		require.False(t, second.Owned)
		require.Equal(t, idempotency.Claimed, second.State)
	})

	t.Run("a certain failure leaves nothing behind", func(t *testing.T) {
		ledger := idempotency.NewMemory(0)
		record, _ := ledger.Claim(t.Context(), id, none)
		require.NoError(t, ledger.Forget(t.Context(), record))
		record, _ = ledger.Claim(t.Context(), id, none)
		require.True(t, record.Owned)
		require.Equal(t, 1, record.Generation)
	})

	t.Run("after a finished call the next one is a new generation with a key of its own", func(t *testing.T) {
		ledger := idempotency.NewMemory(0)
		record, _ := ledger.Claim(t.Context(), id, none)
		record.State, record.Result = idempotency.Finished, []byte(`{}`)
		require.NoError(t, ledger.Save(t.Context(), record))

		seen, _ := ledger.Claim(t.Context(), id, none)
		require.False(t, seen.Owned)
		require.Equal(t, idempotency.Finished, seen.State)
		require.Equal(t, `{}`, string(seen.Result))

		next, _ := ledger.Claim(t.Context(), id, seen)
		require.True(t, next.Owned)
		require.Equal(t, 2, next.Generation)
		require.Equal(t, idempotency.GenerationKey(2, "KITE-142", "Any update?"), next.Key)
		require.Nil(t, next.Result)
	})

	t.Run("after an unconfirmed call the same generation is claimed again", func(t *testing.T) {
		ledger := idempotency.NewMemory(0)
		record, _ := ledger.Claim(t.Context(), id, none)
		record.State = idempotency.Unconfirmed
		require.NoError(t, ledger.Save(t.Context(), record))
		seen, _ := ledger.Claim(t.Context(), id, none)
		again, _ := ledger.Claim(t.Context(), id, seen)
		require.True(t, again.Owned)
		require.Equal(t, 1, again.Generation)
		require.Equal(t, record.Key, again.Key)
	})

	t.Run("a late owner cannot overwrite what came after it", func(t *testing.T) {
		ledger := idempotency.NewMemory(0)
		late, _ := ledger.Claim(t.Context(), id, none)
		require.NoError(t, ledger.Forget(t.Context(), late))
		current, _ := ledger.Claim(t.Context(), id, none)
		late.State = idempotency.Finished
		require.ErrorIs(t, ledger.Save(t.Context(), late), idempotency.ErrMoved)
		require.ErrorIs(t, ledger.Forget(t.Context(), late), idempotency.ErrMoved)
		require.NoError(t, ledger.Forget(t.Context(), current))
	})

	t.Run("of many claims at once one wins", func(t *testing.T) {
		ledger := idempotency.NewMemory(0)
		var owners atomic.Int32
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				if record, _ := ledger.Claim(t.Context(), id, none); record.Owned {
					owners.Add(1)
				}
			})
		}
		all.Wait()
		require.EqualValues(t, 1, owners.Load())
	})
}

func TestMemoryKeepsRecordsForTheRetention(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ledger := idempotency.NewMemory(time.Hour)
		record, _ := ledger.Claim(t.Context(), identity("old"), idempotency.Record{})
		record.State = idempotency.Finished
		require.NoError(t, ledger.Save(t.Context(), record))

		time.Sleep(59 * time.Minute)
		seen, _ := ledger.Claim(t.Context(), identity("old"), idempotency.Record{})
		require.Equal(t, idempotency.Finished, seen.State)

		time.Sleep(2 * time.Minute)
		seen, _ = ledger.Claim(t.Context(), identity("old"), idempotency.Record{})
		require.True(t, seen.Owned, "purged")
	})
}
