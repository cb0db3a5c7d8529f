package sqlite_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/idempotency/sqlite"
	"github.com/kitebase/kitebase-mcp/idempotency/storetest"
)

func open(ctx context.Context, path string) (idempotency.Store, error) { return sqlite.Open(ctx, path) }

func fresh(t testing.TB) string { return filepath.Join(t.TempDir(), "state", "ledger.db") }

func TestMain(m *testing.M) { storetest.Main(m, open) }

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) idempotency.Store {
		store, err := sqlite.Open(t.Context(), fresh(t))
		require.NoError(t, err)
		return store
	})
}

func TestSharedStore(t *testing.T) { storetest.RunShared(t, open, fresh) }

func BenchmarkStore(b *testing.B) { storetest.Benchmark(b, open, fresh) }
