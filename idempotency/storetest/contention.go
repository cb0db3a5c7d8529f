package storetest

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/idempotency"
)

// callers is how many goroutines contend.
const callers = 64

func together(f func(i int)) {
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() { f(i) })
	}
	all.Wait()
}

func oneWinner(t *testing.T, store idempotency.Store) {
	var winners atomic.Int32
	results := make([]idempotency.Record, callers)
	together(func(i int) {
		stored, written, err := store.Put(t.Context(), record("a"), 0)
		if err == nil && written {
			winners.Add(1)
		}
		results[i] = stored
	})
	require.EqualValues(t, 1, winners.Load())
	found := find(t, store, idempotency.Query{})
	require.Len(t, found, 1)
	for _, r := range results {
		require.Equal(t, found[0], r)
	}
}

func noLostChange(t *testing.T, store idempotency.Store) {
	mustPut(t, store, record("a"), 0)
	together(func(int) {
		for {
			found, err := store.Find(t.Context(), idempotency.Query{Fingerprint: "a"})
			if err != nil || len(found) != 1 {
				return // seen below: the count is short
			}
			changed := next(found[0], idempotency.Claimed)
			changed.Attempts++
			if _, written, err := store.Put(t.Context(), changed, found[0].Version); written || err != nil {
				return
			}
		}
	})
	require.Equal(t, callers, find(t, store, idempotency.Query{})[0].Attempts)
}

func neighbours(t *testing.T, store idempotency.Store) {
	var failures atomic.Int32
	together(func(i int) {
		r := record(string(rune('a' + i)))
		_, put, err := store.Put(t.Context(), r, 0)
		gone := true
		if i%2 == 0 && err == nil {
			gone, err = store.Delete(t.Context(), r)
		}
		if err != nil || !put || !gone {
			failures.Add(1)
		}
	})
	require.Zero(t, failures.Load())
	require.Len(t, find(t, store, idempotency.Query{}), callers/2)
}

func cancelled(t *testing.T, store idempotency.Store) {
	var lies atomic.Int32
	together(func(i int) {
		ctx, cancel := context.WithCancel(t.Context())
		if i%4 == 0 {
			cancel()
		} else {
			go cancel() // before, during or after
		}
		defer cancel()
		r := record(string(rune('a' + i)))
		_, written, err := store.Put(ctx, r, 0)
		found, lost := store.Find(t.Context(), idempotency.Query{Fingerprint: r.Fingerprint})
		switch {
		case lost != nil, err == nil && !written, written != (len(found) == 1):
			lies.Add(1)
		case err != nil && !errors.Is(err, context.Canceled):
			lies.Add(1)
		}
	})
	require.Zero(t, lies.Load(), "puts that were told wrongly")
}
