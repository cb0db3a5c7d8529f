// Package storetest says in tests what an [idempotency.Store] must do. Each implementation passes the same suite:
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) idempotency.Store { return &idempotency.Memory{} })
//	}
//
// A store that outlives its process, or that several processes share, passes [RunShared] as well; its package calls [Main] from
// TestMain, since the suite starts the test binary again as other processes, and kills them. The suite knows nothing of how
// a store keeps its records, and what happens when its medium breaks is for the store's own tests.
package storetest

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/idempotency"
)

// Run runs the part of the suite that every store must pass. open returns a fresh, empty store.
func Run(t *testing.T, open func(t *testing.T) idempotency.Store) {
	tests := []struct {
		name string
		test func(*testing.T, idempotency.Store)
	}{
		{"a record comes back as it was written, in every field", everyField},
		{"times come back to the microsecond, zero as zero", times},
		{"any bytes are a result, and none is not the same as empty", results},
		{"long and odd strings", oddStrings},
		{"put inserts only where nothing is", insert},
		{"put replaces only the version it expects", replace},
		{"generations of one call stand side by side", generations},
		{"a version that once was is not taken for the one that is", versions},
		{"delete removes only the version it is given", remove},
		{"of many claims at once one wins, and all learn which", oneWinner},
		{"no change is lost when all change one record", noLostChange},
		{"different calls do not disturb each other", neighbours},
		{"a put whose caller gives up is told truly", cancelled},
		{"find by each field", findByField},
		{"find by state and time", findByStateAndTime},
		{"find in order and up to the limit", findOrder},
		{"purge takes what is old, in all scopes, and never a claim", purge},
		{"its own owner lives, an invented one does not", owner},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			store := open(t)
			t.Cleanup(func() { require.NoError(t, store.Close()) })
			test.test(t, store)
		})
	}
}

func owner(t *testing.T, store idempotency.Store) {
	require.NotEmpty(t, store.Owner())
	require.Equal(t, store.Owner(), store.Owner())
	alive, err := store.Alive(t.Context(), store.Owner())
	require.NoError(t, err)
	require.True(t, alive)
	for _, name := range []string{"", "nobody", "../ledger", "a/b", strings.Repeat("x", 5000)} {
		require.Eventually(t, func() bool {
			alive, err := store.Alive(t.Context(), name)
			return err == nil && !alive
		}, watchdog, pause, "%.20q", name)
	}
}

const (
	// watchdog ends a wait for something that should come at once, pause is between two looks.
	watchdog = 20 * time.Second
	pause    = 5 * time.Millisecond
)

func mustPut(t *testing.T, store idempotency.Store, r idempotency.Record, expected int64) idempotency.Record {
	t.Helper()
	stored, written, err := store.Put(t.Context(), r, expected)
	require.NoError(t, err)
	require.True(t, written)
	return stored
}

func find(t *testing.T, store idempotency.Store, q idempotency.Query) []idempotency.Record {
	t.Helper()
	found, err := store.Find(t.Context(), q)
	require.NoError(t, err)
	return found
}
