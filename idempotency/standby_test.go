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

// failing is a store that can be broken.
type failing struct {
	idempotency.Memory
	err    error
	silent time.Duration // before the error
	late   error         // of writes that have taken effect
}

func (f *failing) Put(ctx context.Context, next idempotency.Record, expected int64) (idempotency.Record, bool, error) {
	if f.err != nil {
		time.Sleep(f.silent)
		return idempotency.Record{}, false, f.err
	}
	stored, written, err := f.Memory.Put(ctx, next, expected)
	if f.late != nil {
		return idempotency.Record{}, false, f.late
	}
	return stored, written, err
}

func (f *failing) Find(ctx context.Context, query idempotency.Query) ([]idempotency.Record, error) {
	if f.err != nil {
		time.Sleep(f.silent)
		return nil, f.err
	}
	return f.Memory.Find(ctx, query)
}

func (f *failing) Owner() string { return "durable" }

func (f *failing) Alive(context.Context, string) (bool, error) { return true, nil }

func TestStandby(t *testing.T) {
	none := idempotency.Record{}
	diskFull := errors.New("disk full")
	setUp := func(strict bool) (*failing, *idempotency.Standby, *idempotency.Ledger, *int) {
		store, told := new(failing), 0
		standby := &idempotency.Standby{
			Open: func(context.Context) (idempotency.Store, error) {
				if store.err != nil {
					return nil, store.err
				}
				return store, nil
			},
			Strict: strict, Failed: func(error) { told++ },
		}
		return store, standby, idempotency.NewLedger(standby, idempotency.Config{}), &told
	}

	t.Run("a store that works is used, and opened when it is first needed", func(t *testing.T) {
		store, standby, ledger, told := setUp(false)
		save(t, ledger, claim(t, ledger, none), idempotency.Finished)
		found, err := store.Memory.Find(t.Context(), idempotency.Query{})
		require.NoError(t, err)
		require.Len(t, found, 1)
		require.Equal(t, "durable", found[0].Owner)
		require.False(t, standby.Degraded())
		require.Zero(t, *told)
	})
	for name, meanwhile := range map[string]func(t *testing.T, store *failing, ledger *idempotency.Ledger, mine idempotency.Record){
		"is deleted in both": func(t *testing.T, store *failing, ledger *idempotency.Ledger, mine idempotency.Record) {
			store.err = nil
			require.NoError(t, ledger.Forget(t.Context(), mine))
			found, _ := store.Memory.Find(t.Context(), idempotency.Query{})
			require.Empty(t, found)
		},
		"is that of whoever has it in the store": func(t *testing.T, store *failing, ledger *idempotency.Ledger, mine idempotency.Record) {
			found, _ := store.Memory.Find(t.Context(), idempotency.Query{})
			other := found[0]
			other.State, other.Owner, other.Result, other.Version = idempotency.Finished, "another", []byte("{}"), other.Version+1
			_, written, _ := store.Memory.Put(t.Context(), other, found[0].Version)
			require.True(t, written)
			store.err = nil
			require.ErrorIs(t, ledger.Forget(t.Context(), mine), idempotency.ErrMoved)
			require.Equal(t, idempotency.Finished, claim(t, ledger, none).State, "the store is asked again at once, since it answered")
		},
		"is not known while the store cannot be asked": func(t *testing.T, _ *failing, ledger *idempotency.Ledger, mine idempotency.Record) {
			err := ledger.Forget(t.Context(), mine)
			require.ErrorIs(t, err, diskFull)
			require.NotErrorIs(t, err, idempotency.ErrMoved)
		},
	} {
		t.Run("a claim that memory took over "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store, standby, ledger, _ := setUp(false)
				mine := claim(t, ledger, none)
				require.True(t, mine.Owned)
				store.err, store.silent = diskFull, 3*time.Second
				require.NoError(t, ledger.Save(t.Context(), &mine), "the claim is renewed")
				require.True(t, standby.Degraded())
				meanwhile(t, store, ledger, mine)
			})
		})
	}
	t.Run("a store that answers while it rests is asked again", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			store, standby, ledger, _ := setUp(false)
			mine := claim(t, ledger, none)
			other := mine
			other.State, other.Owner, other.Result, other.Version = idempotency.Finished, "another", []byte("{}"), mine.Version+1
			_, written, _ := store.Memory.Put(t.Context(), other, mine.Version)
			require.True(t, written)
			store.err, store.silent = diskFull, 3*time.Second
			require.Error(t, standby.Check(t.Context()), "which lets the store rest")
			store.err = nil
			require.ErrorIs(t, ledger.Forget(t.Context(), mine), idempotency.ErrMoved)
			require.Equal(t, idempotency.Finished, claim(t, ledger, none).State)
		})
	})
	t.Run("one that cannot be opened is stood in for, and tried again later", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			store, standby, ledger, told := setUp(false)
			store.err = errors.New("locked")
			done := save(t, ledger, claim(t, ledger, none), idempotency.Finished)
			require.True(t, standby.Degraded())
			require.Equal(t, 1, *told, "said once, not at each call")
			require.Equal(t, idempotency.Finished, claim(t, ledger, none).State, "a repeat is recognised")

			store.err = nil
			time.Sleep(time.Minute)
			other, err := ledger.Claim(t.Context(), identity("another"), none)
			require.NoError(t, err)
			require.Equal(t, "durable", other.Owner)
			require.False(t, standby.Degraded())
			next := claim(t, ledger, done)
			require.Equal(t, 2, next.Generation, "what is in memory stays there")
		})
	})
	t.Run("a claim that cannot be written is made in memory", func(t *testing.T) {
		store, standby, ledger, _ := setUp(false)
		claim(t, ledger, none)
		store.err = diskFull
		record, err := ledger.Claim(t.Context(), identity("another"), none)
		require.NoError(t, err)
		require.True(t, record.Owned)
		require.True(t, standby.Degraded())
		save(t, ledger, record, idempotency.Finished)
	})
	t.Run("one that was written although the store failed is not found twice", func(t *testing.T) {
		store, standby, ledger, _ := setUp(false)
		save(t, ledger, claim(t, ledger, none), idempotency.Finished) // opens it
		store.late = errors.New("the connection broke")
		id := identity("another")
		record, err := ledger.Claim(t.Context(), id, none)
		require.NoError(t, err)
		store.late = nil
		save(t, ledger, record, idempotency.Finished)
		found, err := store.Memory.Find(t.Context(), idempotency.Query{Fingerprint: id.Fingerprint})
		require.NoError(t, err)
		require.Equal(t, idempotency.Claimed, found[0].State)
		found, err = standby.Find(t.Context(), idempotency.Query{Fingerprint: id.Fingerprint})
		require.NoError(t, err)
		require.Len(t, found, 1, "other calls of its group would be held for it for ever")
		require.Equal(t, idempotency.Finished, found[0].State)
	})
	t.Run("the next generation of what is remembered is claimed in the store, where others see it", func(t *testing.T) {
		store, standby, ledger, _ := setUp(true)
		record := claim(t, ledger, none)
		store.err = diskFull
		record.State = idempotency.Finished
		require.ErrorIs(t, ledger.Save(t.Context(), &record), diskFull)
		first := claim(t, ledger, none)
		require.Equal(t, idempotency.Finished, first.State, "remembered here")

		_, err := ledger.Claim(t.Context(), identity("Any update?"), first)
		require.ErrorIs(t, err, diskFull, "strictly, nothing is claimed that is not written")
		store.err = nil
		second := claim(t, ledger, first)
		require.True(t, second.Owned)
		save(t, ledger, second, idempotency.Finished)
		found, err := store.Memory.Find(t.Context(), idempotency.Query{States: []idempotency.State{idempotency.Finished}})
		require.NoError(t, err)
		require.Len(t, found, 1)
		require.Equal(t, 2, found[0].Generation)
		found, err = standby.Find(t.Context(), idempotency.Query{})
		require.NoError(t, err)
		require.Len(t, found, 2)
	})
	t.Run("what could not be written is handed back before the call is claimed again", func(t *testing.T) {
		store, _, ledger, _ := setUp(true)
		record := claim(t, ledger, none)
		store.err = diskFull
		record.State = idempotency.Unconfirmed
		require.ErrorIs(t, ledger.Save(t.Context(), &record), diskFull)
		store.err = nil
		record, err := ledger.Look(t.Context(), record.Fingerprint)
		require.NoError(t, err)
		require.Equal(t, idempotency.Unconfirmed, record.State)
		again := claim(t, ledger, record)
		require.True(t, again.Owned)
		found, err := store.Memory.Find(t.Context(), idempotency.Query{})
		require.NoError(t, err)
		require.Len(t, found, 1)
		require.Equal(t, again.Version, found[0].Version, "others see the claim")
	})
	t.Run("what others did meanwhile counts for more than what is not known here", func(t *testing.T) {
		store, _, ledger, _ := setUp(true)
		record := claim(t, ledger, none)
		store.err = diskFull
		record.State = idempotency.Unconfirmed
		require.ErrorIs(t, ledger.Save(t.Context(), &record), diskFull)
		store.err = nil
		others := idempotency.NewLedger(&store.Memory, idempotency.Config{})
		theirs, err := others.Look(t.Context(), record.Fingerprint)
		require.NoError(t, err)
		theirs.Result, theirs.Owner = []byte("{}"), ""
		save(t, others, theirs, idempotency.Finished)
		require.Equal(t, idempotency.Finished, claim(t, ledger, record).State)
	})
	t.Run("an ending that cannot be written is told, and remembered here", func(t *testing.T) {
		store, _, ledger, _ := setUp(false)
		record := claim(t, ledger, none)
		store.err = diskFull
		record.State = idempotency.Finished
		require.ErrorIs(t, ledger.Save(t.Context(), &record), diskFull)
		require.Equal(t, idempotency.Finished, claim(t, ledger, none).State)
	})
	t.Run("strictly, nothing is claimed that is not written", func(t *testing.T) {
		store, _, ledger, _ := setUp(true)
		claim(t, ledger, none)
		store.err = diskFull
		_, err := ledger.Claim(t.Context(), identity("another"), none)
		require.ErrorIs(t, err, diskFull)
		_, err = ledger.Open(t.Context(), "")
		require.ErrorIs(t, err, diskFull)
	})
	t.Run("an opening that hangs keeps calls waiting for a few seconds, once", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			store, release := new(failing), make(chan struct{})
			standby := &idempotency.Standby{Open: func(context.Context) (idempotency.Store, error) {
				<-release // a file system that does not answer
				return store, nil
			}}
			ledger := idempotency.NewLedger(standby, idempotency.Config{Retention: -1})
			began := time.Now()
			save(t, ledger, claim(t, ledger, none), idempotency.Finished)
			require.True(t, standby.Degraded())
			require.Equal(t, 5*time.Second, time.Since(began))
			require.Equal(t, idempotency.Finished, claim(t, ledger, none).State)
			require.Equal(t, 5*time.Second, time.Since(began))

			close(release)
			synctest.Wait()
			other, err := ledger.Claim(t.Context(), identity("another"), none)
			require.NoError(t, err)
			require.Equal(t, "durable", other.Owner, "when it opens after all, it is used")
		})
	})
	t.Run("one that went silent keeps a call waiting once, and is then left alone for a while", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			store, _, ledger, _ := setUp(false)
			begun := claim(t, ledger, none)
			store.silent, store.err = 5*time.Second, diskFull // a connection whose other end has vanished
			began := time.Now()
			for _, text := range []string{"one", "another", "a third"} {
				record, err := ledger.Claim(t.Context(), identity(text), none)
				require.NoError(t, err)
				_, err = ledger.Open(t.Context(), "")
				require.NoError(t, err)
				save(t, ledger, record, idempotency.Finished)
			}
			require.Equal(t, 5*time.Second, time.Since(began))

			store.silent, store.err = 0, nil
			save(t, ledger, begun, idempotency.Finished) // what has happened is written as soon as it can be
			record, err := ledger.Claim(t.Context(), identity("after all"), none)
			require.NoError(t, err)
			require.True(t, record.Owned)
			found, err := store.Memory.Find(t.Context(), idempotency.Query{})
			require.NoError(t, err)
			require.Len(t, found, 2)
		})
	})
	t.Run("strictly, what is claimed meanwhile is refused at once", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			store, _, ledger, _ := setUp(true)
			claim(t, ledger, none)
			store.silent, store.err = 5*time.Second, diskFull
			began := time.Now()
			for range 3 {
				_, err := ledger.Claim(t.Context(), identity("another"), none)
				require.Error(t, err)
			}
			require.Equal(t, 5*time.Second, time.Since(began))
			store.silent, store.err = 0, nil
			time.Sleep(10 * time.Second)
			_, err := ledger.Claim(t.Context(), identity("another"), none)
			require.NoError(t, err)
		})
	})
	t.Run("after Close nothing is opened any more", func(t *testing.T) {
		_, standby, _, _ := setUp(true)
		require.NoError(t, standby.Close())
		_, _, err := standby.Put(t.Context(), idempotency.Record{}, 0)
		require.Error(t, err)
	})
}

func TestNote(t *testing.T) {
	store := new(idempotency.Memory)
	ledger := idempotency.NewLedger(store, idempotency.Config{Scope: "test"})
	for range 2 {
		require.NoError(t, ledger.Note(t.Context(), idempotency.Record{Tool: "assign_ticket", Group: "KITE-142", State: idempotency.Finished}))
	}
	found, err := store.Find(t.Context(), idempotency.Query{Scope: "test", Group: "KITE-142"})
	require.NoError(t, err)
	require.Len(t, found, 2, "each call is noted")
}
