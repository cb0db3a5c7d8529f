package resilience_test

import (
	"context"
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
	alive bool
}

func (m *mortal) Owner() string { return m.owner }

func (m *mortal) Alive(_ context.Context, owner string) (bool, error) {
	return owner == m.owner || m.alive, nil
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

// What is unknown must end by itself: in the field it stayed so until somebody happened to ask.
func TestUnknownsEnd(t *testing.T) {
	run := func(name string, test func(t *testing.T, d *desk, store *mortal, policy resilience.Policy)) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				done := make(chan struct{})
				defer close(done)
				d, store := deskThat(fails(reset)), &mortal{new(idempotency.Memory), "us", true}
				test(t, d, store, looking(d, store, done))
			})
		})
	}
	run("although the upstream is away for longer than the horizon", func(t *testing.T, d *desk, store *mortal, policy resilience.Policy) {
		d.look = resilience.Settlement{Wait: 30 * time.Second}
		call := guard(t, sends(d.handle), policy)
		require.Equal(t, "unknown", info(t, call(t.Context(), withMessage("hello"))).Outcome)
		time.Sleep(time.Hour)
		require.Equal(t, []idempotency.State{idempotency.Unconfirmed}, states(t, store))
		require.Less(t, d.looks, 20, "looks become rarer")
		d.look = found()
		time.Sleep(5 * time.Minute)
		require.Equal(t, []idempotency.State{idempotency.Settled}, states(t, store))
		looks := d.looks
		time.Sleep(time.Hour)
		require.Equal(t, looks, d.looks, "there is nothing left to look for")
	})
	run("although the process that left it seemed to live when the next one started", func(t *testing.T, d *desk, store *mortal, policy resilience.Policy) {
		theirs := idempotency.NewLedger(&mortal{store.Memory, "they", true}, idempotency.Config{Lease: time.Hour})
		id, err := identify(message("hello"))
		require.NoError(t, err)
		_, err = theirs.Claim(t.Context(), id, idempotency.Record{})
		require.NoError(t, err)
		d.look = found()
		guard(t, sends(d.handle), policy)
		time.Sleep(2 * time.Second)
		require.Equal(t, []idempotency.State{idempotency.Claimed}, states(t, store))
		store.alive = false
		time.Sleep(time.Minute)
		require.Equal(t, []idempotency.State{idempotency.Settled}, states(t, store))
	})
	run("although only a repeat at another process met it", func(t *testing.T, d *desk, store *mortal, policy resilience.Policy) {
		call := guard(t, sends(d.handle), policy)
		time.Sleep(time.Minute) // what there was at the start has been looked for
		theirs := idempotency.NewLedger(&mortal{store.Memory, "they", true}, idempotency.Config{Lease: time.Hour})
		id, err := identify(message("hello"))
		require.NoError(t, err)
		_, err = theirs.Claim(t.Context(), id, idempotency.Record{})
		require.NoError(t, err)
		store.alive = false
		d.look = resilience.Settlement{Wait: 30 * time.Second}
		require.Equal(t, "unknown", info(t, call(t.Context(), withMessage("hello"))).Outcome)
		d.look = found()
		time.Sleep(time.Minute)
		require.Equal(t, []idempotency.State{idempotency.Settled}, states(t, store))
	})
}

// A process whose clock was set back took a claim over whose owner was sending. That it was sent, its owner still knows.
func TestTakenOverWhileSending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &mortal{new(idempotency.Memory), "us", true}
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
