package server_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/server"
)

// sick is a store that can hang or fail.
type sick struct {
	idempotency.Memory
	hangs, fails atomic.Bool
}

func (s *sick) Find(ctx context.Context, query idempotency.Query) ([]idempotency.Record, error) {
	for s.hangs.Load() { // whatever ctx says: no store is trusted that far
		time.Sleep(time.Second)
	}
	if s.fails.Load() {
		return nil, errors.New("disk on fire at /canary")
	}
	return s.Memory.Find(ctx, query)
}

func TestReady(t *testing.T) {
	t.Run("the ledger decides, and heals", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			store := new(sick)
			w := watch(t, server.Config{Store: &idempotency.Standby{Open: func(context.Context) (idempotency.Store, error) { return store, nil }}})
			ready := func() error {
				degraded, err := w.server.Ready(t.Context())
				require.Empty(t, degraded)
				return err
			}
			require.NoError(t, ready())
			store.fails.Store(true)
			require.NoError(t, ready(), "known for a second")
			time.Sleep(time.Second)
			require.ErrorContains(t, ready(), "disk on fire")
			store.fails.Store(false)
			time.Sleep(time.Second)
			require.NoError(t, ready(), "without a call that needs it")
		})
	})
	t.Run("an open circuit is told by the names of the tools, until it is closed", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := watch(t, server.Config{})
			faulty(t, w.Fake, "search_tickets=drop")
			w.fails(5, "search_tickets", `{"query":"sso"}`)
			for range 2 { // open, then half open
				degraded, err := w.server.Ready(t.Context())
				require.NoError(t, err)
				require.Equal(t, "Kitebase keeps failing, and most calls are refused of search_tickets", degraded)
				time.Sleep(31 * time.Second)
			}
			w.ClearFaults("search_tickets")
			require.False(t, w.call("search_tickets", `{"query":"sso"}`, "{}").IsError)
			degraded, err := w.server.Ready(t.Context())
			require.NoError(t, err)
			require.Empty(t, degraded)
		})
	})
}
