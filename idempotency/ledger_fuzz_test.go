package idempotency_test

import (
	"context"
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

// process is one that comes to a call, and is started again when it has died.
type process struct {
	ledger *idempotency.Ledger
	name   string
	owned  idempotency.Record // what it believes to own
}

// offices are processes on one store, and who owns the one call in truth.
type offices struct {
	store idempotency.Memory
	dead  map[string]bool
	lives int
	owner string // "" if nobody
	lease time.Time
}

func (o *offices) born() process {
	o.lives++
	name := fmt.Sprint("office ", o.lives)
	return process{ledger: idempotency.NewLedger(&office{&o.store, name, o.dead}, idempotency.Config{Lease: time.Minute}), name: name}
}

// claim has p claim the call as the guard does.
func (o *offices) claim(t *testing.T, p *process) {
	if p.owned.Owned {
		return
	}
	got := claim(t, p.ledger, idempotency.Record{})
	alive := o.owner != "" && !o.dead[o.owner] && time.Now().Before(o.lease)
	if alive {
		require.Equal(t, idempotency.Claimed, got.State)
		require.Equal(t, o.owner, got.Owner)
	}
	if !got.Owned && got.State != idempotency.Claimed && got.State != idempotency.Unconfirmed {
		got = claim(t, p.ledger, got)
	}
	if got.State == idempotency.Unconfirmed {
		require.False(t, got.Owned, "sent again without a look")
		o.owner = ""
	}
	if got.Owned {
		require.False(t, alive, "%s and %s own it", o.owner, p.name)
		p.owned, o.owner, o.lease = got, p.name, time.Now().Add(time.Minute)
	}
}

// end has p end what it believes to own: by nothing at all, or in that state.
func (o *offices) end(t *testing.T, p *process, state idempotency.State) {
	if !p.owned.Owned {
		return
	}
	record := p.owned
	p.owned = idempotency.Record{}
	var err error
	if state == "" {
		err = p.ledger.Forget(t.Context(), record)
	} else {
		record.State, record.Owner = state, ""
		err = p.ledger.Save(t.Context(), &record)
	}
	if o.owner != p.name {
		require.ErrorIs(t, err, idempotency.ErrMoved, "ended what it had lost")
		return
	}
	require.NoError(t, err)
	o.owner = ""
}

// giveUp has p say that what may have been sent was not.
func (o *offices) giveUp(t *testing.T, p *process) {
	now, err := p.ledger.Look(t.Context(), identity("Any update?").Fingerprint)
	require.NoError(t, err)
	if now.State == idempotency.Unconfirmed {
		now.State, o.owner = idempotency.Abandoned, ""
		require.NoError(t, p.ledger.Save(t.Context(), &now))
	}
}

// FuzzLedger states: whatever three processes do to one call, die of and leave lying, at any time at most one of them owns it; who
// has lost it is told so when it wants to end it; and what may have been sent is never claimed before somebody says that it was not.
func FuzzLedger(f *testing.F) {
	f.Add([]byte{0, 1, 8, 1, 2, 17, 3, 0})
	f.Add([]byte{0, 4, 1, 1, 10, 5, 0, 30, 9, 3})
	f.Add([]byte{0, 7, 127, 127, 1, 2, 9, 10, 2, 18})
	f.Fuzz(func(t *testing.T, program []byte) {
		synctest.Test(t, func(t *testing.T) {
			o := &offices{dead: map[string]bool{}}
			all := [3]process{o.born(), o.born(), o.born()}
			for _, op := range program[:min(len(program), 150)] {
				p := &all[int(op>>3)%3]
				switch op % 8 {
				case 0, 1:
					o.claim(t, p)
				case 2:
					o.end(t, p, "")
				case 3:
					o.end(t, p, []idempotency.State{idempotency.Finished, idempotency.Unconfirmed}[op>>5%2])
				case 4:
					o.giveUp(t, p)
				case 5:
					o.dead[p.name] = true
					*p = o.born()
				default:
					time.Sleep(time.Duration(op) * time.Second / 4)
				}
			}
		})
	})
}
