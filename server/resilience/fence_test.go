package resilience_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/server/resilience"
)

// overtaking is a store with which another process does something right after the first claim.
type overtaking struct {
	idempotency.Memory
	meanwhile func(claimed idempotency.Record)
}

func (o *overtaking) Put(ctx context.Context, next idempotency.Record, expected int64) (idempotency.Record, bool, error) {
	stored, written, err := o.Memory.Put(ctx, next, expected)
	if then := o.meanwhile; then != nil && next.State == idempotency.Claimed {
		o.meanwhile = nil
		then(stored)
	}
	return stored, written, err
}

// finish is what another process does that took the claim over and sent the reply.
func (o *overtaking) finish(t *testing.T, claimed idempotency.Record) {
	claimed.State, claimed.Result, claimed.Version = idempotency.Finished, []byte(`{"content":[],"structuredContent":{"reply_id":"rpl_001"}}`), claimed.Version+1
	_, written, err := o.Memory.Put(t.Context(), claimed, claimed.Version-1)
	require.NoError(t, err)
	require.True(t, written)
}

// TestFence: a process was stopped between its claim and its request, and another one dealt with the call meanwhile. It went
// on where it had been, and the customer of a Kitebase without keys got the email twice.
func TestFence(t *testing.T) {
	run := func(name string, d *desk, meanwhile func(*testing.T, *overtaking, idempotency.Record), check func(*testing.T, *mcp.CallToolResult)) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store, policy := new(overtaking), d.policy()
				store.meanwhile = func(claimed idempotency.Record) { meanwhile(t, store, claimed) }
				policy.Dedupe.Ledger = idempotency.NewLedger(store, idempotency.Config{})
				check(t, guard(t, sends(d.handle), policy)(t.Context(), withMessage("x")))
			})
		})
	}
	d := deskThat(succeeds)
	run("what was sent meanwhile is told and not sent", d, func(t *testing.T, store *overtaking, claimed idempotency.Record) {
		time.Sleep(5 * time.Second)
		store.finish(t, claimed)
	}, func(t *testing.T, result *mcp.CallToolResult) {
		require.Zero(t, d.runs)
		require.Contains(t, text(result), "Already done")
		require.Equal(t, 0, attempts(result))
	})
	free := deskThat(succeeds)
	run("what came to nothing meanwhile is sent", free, func(t *testing.T, store *overtaking, claimed idempotency.Record) {
		time.Sleep(5 * time.Second)
		removed, err := store.Delete(t.Context(), claimed)
		require.NoError(t, err)
		require.True(t, removed)
	}, func(t *testing.T, result *mcp.CallToolResult) {
		require.Equal(t, 1, free.runs)
		require.False(t, result.IsError)
	})
	still := deskThat(succeeds)
	run("a claim that still stands is used", still, func(*testing.T, *overtaking, idempotency.Record) { time.Sleep(5 * time.Second) },
		func(t *testing.T, result *mcp.CallToolResult) {
			require.Equal(t, 1, still.runs)
			require.False(t, result.IsError)
		})
	t.Run("an attempt that certainly failed is no failure of the call if another process has made it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			store := new(overtaking)
			var mine idempotency.Record
			store.meanwhile = func(claimed idempotency.Record) { mine = claimed }
			d := deskThat(func(context.Context) (*mcp.CallToolResult, error) {
				store.finish(t, mine)
				return nil, &resilience.Failure{What: resilience.Unavailable, Effect: idempotency.NotDone, Cause: errors.New("never written")}
			})
			policy := d.policy()
			policy.Attempts = -1
			policy.Dedupe.Ledger = idempotency.NewLedger(store, idempotency.Config{})
			result := guard(t, sends(d.handle), policy)(t.Context(), withMessage("x"))
			require.Contains(t, text(result), "Already done")
			require.Equal(t, 1, d.runs)
		})
	})
	t.Run("an attempt that certainly failed leaves the call unknown if the ledger cannot say who has it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			d := deskThat(fails(&resilience.Failure{What: resilience.Unavailable, Effect: idempotency.NotDone, Cause: errors.New("never written")}))
			policy := d.policy()
			policy.Attempts = -1
			policy.Dedupe.Ledger = idempotency.NewLedger(new(undeletable), idempotency.Config{})
			result := guard(t, sends(d.handle), policy)(t.Context(), withMessage("x"))
			require.Contains(t, text(result), "may have gone through anyway")
			require.Equal(t, "unknown", info(t, result).Outcome)
		})
	})
}

// undeletable is a store that is lost between a claim and the end of its call. A replica whose connections were cut while it
// was stopped said "not sent" for a reply that another had sent.
type undeletable struct{ idempotency.Memory }

func (*undeletable) Delete(context.Context, idempotency.Record) (bool, error) {
	return false, errors.New("connection reset")
}

// TestLeftBeforeItBegan: the caller of a reply went away while the ledger took its time over the claim, and the reply was sent
// all the same. What has not begun when its caller leaves is not begun, and leaves nothing behind.
func TestLeftBeforeItBegan(t *testing.T) {
	for name, bulkhead := range map[string]*resilience.BulkheadConfig{"with a free place": {}, "without a bulkhead": nil} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				caller, leave := context.WithCancel(t.Context())
				store, d := new(overtaking), deskThat(succeeds)
				store.meanwhile = func(idempotency.Record) { leave() }
				policy := d.policy()
				policy.Bulkhead = bulkhead
				policy.Dedupe.Ledger = idempotency.NewLedger(store, idempotency.Config{})
				call := guard(t, sends(d.handle), policy)
				require.Equal(t, resilience.ErrorInfo{Kind: resilience.Canceled, Next: "wait", Outcome: "not_done"},
					info(t, call(caller, withMessage("x"))))
				require.Zero(t, d.runs)
				store.meanwhile = nil
				require.False(t, call(t.Context(), withMessage("x")).IsError)
				require.Equal(t, 1, d.runs)
			})
		})
	}
}
