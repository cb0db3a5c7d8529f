package resilience_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/server/resilience"
)

// mortal is a store whose other owners die when they are told to.
type mortal struct {
	*idempotency.Memory
	owner string
	alive atomic.Bool
}

func mortals(memory *idempotency.Memory, owner string) *mortal {
	m := &mortal{Memory: memory, owner: owner}
	m.alive.Store(true)
	return m
}

func (m *mortal) Owner() string { return m.owner }

func (m *mortal) Alive(_ context.Context, owner string) (bool, error) {
	return owner == m.owner || m.alive.Load(), nil
}

// looking returns a desk whose guard looks in the background, on a ledger with this store.
func looking(d *desk, store idempotency.Store, done <-chan struct{}) resilience.Policy {
	policy := d.policy()
	policy.Dedupe.Ledger = idempotency.NewLedger(store, idempotency.Config{})
	policy.Dedupe.Later = func(wait time.Duration, f func(context.Context)) {
		time.AfterFunc(wait, func() {
			select {
			case <-done:
			default:
				f(context.Background())
			}
		})
	}
	return policy
}

func states(t *testing.T, store idempotency.Store) (all []idempotency.State) {
	found, err := store.Find(t.Context(), idempotency.Query{})
	require.NoError(t, err)
	for _, record := range found {
		all = append(all, record.State)
	}
	return all
}

// pass lets time pass, and whatever is due in it be done.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// What is unknown must end by itself: in the field it stayed so until somebody happened to ask.
func TestUnknownsEnd(t *testing.T) {
	run := func(name string, test func(t *testing.T, d *desk, store *mortal, policy resilience.Policy)) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				done := make(chan struct{})
				defer close(done)
				d, store := deskThat(fails(reset)), mortals(new(idempotency.Memory), "us")
				test(t, d, store, looking(d, store, done))
			})
		})
	}
	run("although the upstream is away for longer than the horizon", func(t *testing.T, d *desk, store *mortal, policy resilience.Policy) {
		d.sees(resilience.Settlement{Wait: 30 * time.Second})
		call := guard(t, sends(d.handle), policy)
		require.Equal(t, "unknown", info(t, call(t.Context(), withMessage("hello"))).Outcome)
		pass(time.Hour)
		require.Equal(t, []idempotency.State{idempotency.Unconfirmed}, states(t, store))
		require.Less(t, d.looked(), 20, "looks become rarer")
		d.sees(found())
		pass(5 * time.Minute)
		require.Equal(t, []idempotency.State{idempotency.Settled}, states(t, store))
		looks := d.looked()
		pass(time.Hour)
		require.Equal(t, looks, d.looked(), "there is nothing left to look for")
	})
	run("although the process that left it seemed to live when the next one started", func(t *testing.T, d *desk, store *mortal, policy resilience.Policy) {
		theirs := idempotency.NewLedger(mortals(store.Memory, "they"), idempotency.Config{Lease: time.Hour})
		id, err := identify(message("hello"))
		require.NoError(t, err)
		_, err = theirs.Claim(t.Context(), id, idempotency.Record{})
		require.NoError(t, err)
		d.sees(found())
		guard(t, sends(d.handle), policy)
		pass(2 * time.Second)
		require.Equal(t, []idempotency.State{idempotency.Claimed}, states(t, store))
		store.alive.Store(false)
		pass(time.Minute)
		require.Equal(t, []idempotency.State{idempotency.Settled}, states(t, store))
	})
	run("although only a repeat at another process met it", func(t *testing.T, d *desk, store *mortal, policy resilience.Policy) {
		call := guard(t, sends(d.handle), policy)
		pass(time.Minute) // what there was at the start has been looked for
		theirs := idempotency.NewLedger(mortals(store.Memory, "they"), idempotency.Config{Lease: time.Hour})
		id, err := identify(message("hello"))
		require.NoError(t, err)
		_, err = theirs.Claim(t.Context(), id, idempotency.Record{})
		require.NoError(t, err)
		store.alive.Store(false)
		d.sees(resilience.Settlement{Wait: 30 * time.Second})
		require.Equal(t, "unknown", info(t, call(t.Context(), withMessage("hello"))).Outcome)
		d.sees(found())
		pass(time.Minute)
		require.Equal(t, []idempotency.State{idempotency.Settled}, states(t, store))
	})
}

// A process whose clock was set back took a claim over whose owner was sending. That it was sent, its owner still knows.
func TestTakenOverWhileSending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := mortals(new(idempotency.Memory), "us")
		d := deskThat(func(context.Context) (*mcp.CallToolResult, error) {
			found, err := store.Find(t.Context(), idempotency.Query{})
			require.NoError(t, err)
			taken := found[0]
			taken.State, taken.Owner, taken.Version = idempotency.Unconfirmed, "", 7
			_, written, err := store.Put(t.Context(), taken, found[0].Version)
			require.NoError(t, err)
			require.True(t, written)
			return mcp.NewToolResultText("sent"), nil
		})
		policy := d.policy()
		policy.Dedupe.Ledger = idempotency.NewLedger(store, idempotency.Config{})
		call := guard(t, sends(d.handle), policy)
		require.False(t, call(t.Context(), withMessage("hello")).IsError)
		require.Equal(t, []idempotency.State{idempotency.Finished}, states(t, store))
		require.False(t, call(t.Context(), withMessage("hello")).IsError)
		require.Equal(t, 1, d.runs)
	})
}
