package idempotency_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/idempotency"
)

// readOnly is a store on a full disk.
type readOnly struct {
	idempotency.Memory
	full bool
	puts int
}

func (r *readOnly) Put(ctx context.Context, next idempotency.Record, expected int64) (idempotency.Record, bool, error) {
	r.puts++
	if r.full {
		return idempotency.Record{}, false, errors.New("disk full")
	}
	return r.Memory.Put(ctx, next, expected)
}

func TestStandbyCheck(t *testing.T) {
	setUp := func(store idempotency.Store) (*idempotency.Standby, *int) {
		told := 0
		return &idempotency.Standby{
			Open:   func(context.Context) (idempotency.Store, error) { return store, nil },
			Failed: func(error) { told++ },
		}, &told
	}
	t.Run("it writes at first and leaves nothing behind, then it reads", func(t *testing.T) {
		store := new(readOnly)
		standby, _ := setUp(store)
		for range 3 {
			require.NoError(t, standby.Check(t.Context()))
		}
		require.Equal(t, 1, store.puts)
		found, err := store.Find(t.Context(), idempotency.Query{})
		require.NoError(t, err)
		require.Empty(t, found)
	})
	t.Run("a full disk can be read, and is found out all the same", func(t *testing.T) {
		store := &readOnly{full: true}
		standby, told := setUp(store)
		for range 3 {
			require.ErrorContains(t, standby.Check(t.Context()), "disk full")
		}
		require.True(t, standby.Degraded())
		require.Equal(t, 1, *told, "once, however often it is checked")
		store.full = false
		require.NoError(t, standby.Check(t.Context()))
		require.False(t, standby.Degraded(), "no call had to find that out")
	})
	t.Run("after a claim that failed it has to be written to again", func(t *testing.T) {
		store := new(readOnly)
		standby, _ := setUp(store)
		require.NoError(t, standby.Check(t.Context()))
		store.full = true
		claim(t, idempotency.NewLedger(standby, idempotency.Config{}), idempotency.Record{})
		require.ErrorContains(t, standby.Check(t.Context()), "disk full")
	})
	t.Run("one that cannot be read", func(t *testing.T) {
		store := new(failing)
		standby, told := setUp(store)
		require.NoError(t, standby.Check(t.Context()))
		store.err = errors.New("cut off")
		require.ErrorContains(t, standby.Check(t.Context()), "cut off")
		require.ErrorContains(t, standby.Check(t.Context()), "cut off")
		require.Equal(t, 1, *told)
		store.err = nil
		require.NoError(t, standby.Check(t.Context()))
	})
	t.Run("one that can be written to but not read", func(t *testing.T) {
		store := new(unread)
		standby, _ := setUp(store)
		_, err := idempotency.NewLedger(standby, idempotency.Config{}).Open(t.Context(), "")
		require.NoError(t, err, "memory stands in")
		require.ErrorContains(t, standby.Check(t.Context()), "no reading")
	})
	t.Run("one that cannot be opened is tried again after a while", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			broken, told := true, 0
			standby := &idempotency.Standby{Failed: func(error) { told++ }, Open: func(context.Context) (idempotency.Store, error) {
				if broken {
					return nil, errors.New("locked")
				}
				return new(idempotency.Memory), nil
			}}
			require.ErrorContains(t, standby.Check(t.Context()), "locked")
			broken = false
			require.ErrorContains(t, standby.Check(t.Context()), "locked")
			require.Equal(t, 1, told)
			time.Sleep(30 * time.Second)
			require.NoError(t, standby.Check(t.Context()))
			require.False(t, standby.Degraded())
		})
	})
	t.Run("who has no time left has found nothing out", func(t *testing.T) {
		standby, told := setUp(blocked{})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, standby.Check(ctx), context.Canceled)
		require.False(t, standby.Degraded())
		require.Zero(t, *told)
	})
}

// unread is a store that cannot be read.
type unread struct{ idempotency.Memory }

func (*unread) Find(context.Context, idempotency.Query) ([]idempotency.Record, error) {
	return nil, errors.New("no reading")
}

// blocked is a store that waits as long as it may.
type blocked struct{ idempotency.Store }

func (blocked) Find(ctx context.Context, _ idempotency.Query) ([]idempotency.Record, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}
