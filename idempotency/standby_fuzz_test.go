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

// FuzzStandby states: in whatever order a store breaks, is mended and is used, a call is claimed once, and once more only if the
// store that knew of it is broken and Strict is not set; what is in memory stays known until the store has it again; and with Strict nothing is claimed that the
// store has not.
func FuzzStandby(f *testing.F) {
	f.Add([]byte{0, 0, 2, 0, 3, 0}, false)
	f.Add([]byte{2, 0, 1, 3, 0, 1, 0}, true)
	f.Add([]byte{0, 2, 1, 0, 3, 0, 4, 0}, false)
	broken := errors.New("disk full")
	f.Fuzz(func(t *testing.T, program []byte, strict bool) {
		synctest.Test(t, func(t *testing.T) {
			store := new(failing)
			standby := &idempotency.Standby{Strict: strict, Open: func(context.Context) (idempotency.Store, error) {
				return store, store.err
			}}
			ledger := idempotency.NewLedger(standby, idempotency.Config{Retention: -1, Lease: 24 * time.Hour})
			var owned []idempotency.Record
			inStore, inMemory := false, false
			handed := false // what was in memory may have been handed back since
			for _, op := range program[:min(len(program), 100)] {
				handed = handed || store.err == nil && op%5 < 2
				switch op % 5 {
				case 0:
					got, err := ledger.Claim(t.Context(), identity("Any update?"), idempotency.Record{})
					if err != nil {
						require.True(t, strict, err)
						continue
					}
					known := inMemory || inStore && (strict || store.err == nil)
					require.True(t, got.Owned || known, "not claimed, but nobody knows it: %+v", got)
					require.False(t, got.Owned && inMemory && !(handed && store.err != nil), "claimed although it is in memory")
					if !got.Owned {
						continue
					}
					owned = append(owned, got)
					found, _ := store.Memory.Find(t.Context(), idempotency.Query{})
					require.True(t, !strict || len(found) > 0, "claimed without a record")
					if len(found) > 0 && !inStore {
						inStore = true
					} else {
						inMemory, handed = true, false
					}
				case 1:
					if len(owned) == 0 {
						continue
					}
					record := owned[len(owned)-1]
					owned = owned[:len(owned)-1]
					record.State, record.Owner = idempotency.Finished, ""
					if err := ledger.Save(t.Context(), &record); err != nil {
						require.True(t, store.err != nil || inMemory, err)
						if !errors.Is(err, idempotency.ErrMoved) { // else it is known where it is, and more is known than this
							inMemory, handed = true, false
						}
					}
				case 2:
					store.err = broken
				case 3:
					store.err = nil
				case 4:
					time.Sleep(20 * time.Second) // a store that could not be opened is tried again after a while
				}
			}
			require.NoError(t, standby.Close())
		})
	})
}
