package idempotency_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/idempotency"
)

// office is one process on a store that several share.
type office struct {
	idempotency.Store
	name string
	dead map[string]bool // shared
}

func (o *office) Owner() string { return o.name }

func (o *office) Alive(_ context.Context, owner string) (bool, error) { return !o.dead[owner], nil }

// FuzzLedger states: whatever three processes do to one call, die of and leave lying, at any time at most one of them owns it; who
// has lost it is told so when it wants to end it; and what may have been sent is never claimed before somebody says that it was not.
func FuzzLedger(f *testing.F) {
	f.Add([]byte{0, 1, 8, 1, 2, 17, 3, 0})
	f.Add([]byte{0, 4, 1, 1, 10, 5, 0, 30, 9, 3})
	f.Add([]byte{0, 7, 127, 127, 1, 2, 9, 10, 2, 18})
	f.Fuzz(func(t *testing.T, program []byte) {
		synctest.Test(t, func(t *testing.T) {
			shared, dead, lives := new(idempotency.Memory), map[string]bool{}, 0
			born := func() (*idempotency.Ledger, string) {
				lives++
				name := fmt.Sprint("office ", lives)
				return idempotency.NewLedger(&office{shared, name, dead}, idempotency.Config{Lease: time.Minute}), name
			}
			type process struct {
				ledger *idempotency.Ledger
				name   string
				owned  idempotency.Record // what it believes to own
			}
			var all [3]process
			for i := range all {
				all[i].ledger, all[i].name = born()
			}
			var owner string // who owns it in truth; "" if nobody
			var lease time.Time
			for _, op := range program[:min(len(program), 150)] {
				p := &all[int(op>>3)%3]
				switch op % 8 {
				case 0, 1: // claim, as the guard does
					if p.owned.Owned {
						continue
					}
					got := claim(t, p.ledger, idempotency.Record{})
					alive := owner != "" && !dead[owner] && time.Now().Before(lease)
					if alive {
						require.Equal(t, idempotency.Claimed, got.State)
						require.Equal(t, owner, got.Owner)
					}
					if !got.Owned && got.State != idempotency.Claimed && got.State != idempotency.Unconfirmed {
						got = claim(t, p.ledger, got)
					}
					if got.State == idempotency.Unconfirmed {
						require.False(t, got.Owned, "sent again without a look")
						owner = ""
					}
					if got.Owned {
						require.False(t, alive, "%s and %s own it", owner, p.name)
						p.owned, owner, lease = got, p.name, time.Now().Add(time.Minute)
					}
				case 2, 3: // end it
					if !p.owned.Owned {
						continue
					}
					record := p.owned
					p.owned = idempotency.Record{}
					var err error
					if op%8 == 2 {
						err = p.ledger.Forget(t.Context(), record)
					} else {
						record.State, record.Owner = []idempotency.State{idempotency.Finished, idempotency.Unconfirmed}[op>>5%2], ""
						err = p.ledger.Save(t.Context(), &record)
					}
					if owner != p.name {
						require.ErrorIs(t, err, idempotency.ErrMoved, "ended what it had lost")
						continue
					}
					require.NoError(t, err)
					owner = ""
				case 4: // somebody has looked: it was not sent
					now, err := p.ledger.Look(t.Context(), identity("Any update?").Fingerprint)
					require.NoError(t, err)
					if now.State == idempotency.Unconfirmed {
						now.State, owner = idempotency.Abandoned, ""
						require.NoError(t, p.ledger.Save(t.Context(), &now))
					}
				case 5: // die, and be started again
					dead[p.name] = true
					p.ledger, p.name = born()
					p.owned = idempotency.Record{}
				default:
					time.Sleep(time.Duration(op) * time.Second / 4)
				}
			}
		})
	})
}

// FuzzStandby states: in whatever order a store breaks, is mended and is used, a call is claimed once, and once more only if the
// store that knew of it is broken and Strict is not set; what is in memory stays known; and with Strict nothing is claimed that the
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
			for _, op := range program[:min(len(program), 100)] {
				switch op % 5 {
				case 0:
					got, err := ledger.Claim(t.Context(), identity("Any update?"), idempotency.Record{})
					if err != nil {
						require.True(t, strict, err)
						continue
					}
					known := inMemory || inStore && (strict || store.err == nil)
					require.True(t, got.Owned || known, "not claimed, but nobody knows it: %+v", got)
					require.False(t, got.Owned && inMemory, "claimed although it is in memory")
					if !got.Owned {
						continue
					}
					owned = append(owned, got)
					found, _ := store.Memory.Find(t.Context(), idempotency.Query{})
					require.True(t, !strict || len(found) > 0, "claimed without a record")
					if len(found) > 0 && !inStore {
						inStore = true
					} else {
						inMemory = true
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
						inMemory = true
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
