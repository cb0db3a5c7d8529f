package sqlite_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/idempotency"
)

// The file schema1.sql is a ledger as the first schema had it, with two records: what a released version wrote must be
// read by every later one.
func TestOpenMovesAnOldSchemaOn(t *testing.T) {
	dump, err := os.ReadFile(filepath.Join("testdata", "schema1.sql"))
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "ledger.db")
	change(t, path, string(dump))

	store := opened(t, path)
	found, err := store.Find(t.Context(), idempotency.Query{})
	require.NoError(t, err)
	require.Len(t, found, 2)
	require.Equal(t, idempotency.Finished, found[0].State)
	require.Equal(t, `{"reply_id":"rpl_001"}`, string(found[0].Result))
	open, err := store.Find(t.Context(), idempotency.Query{Group: "KITE-7", States: []idempotency.State{idempotency.Unconfirmed}})
	require.NoError(t, err)
	require.Len(t, open, 1)

	done := open[0]
	done.State, done.Version = idempotency.Finished, open[0].Version+1
	_, written, err := store.Put(t.Context(), done, open[0].Version)
	require.NoError(t, err)
	require.True(t, written)
	purged, err := store.Purge(t.Context(), time.Now())
	require.NoError(t, err)
	require.Equal(t, 2, purged)
}
