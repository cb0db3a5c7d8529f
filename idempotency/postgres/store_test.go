package postgres_test

import (
	"context"
	"crypto/rand"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/idempotency/postgres"
	"github.com/kitebase/kitebase-mcp/idempotency/storetest"
)

func open(ctx context.Context, url string) (idempotency.Store, error) { return postgres.Open(ctx, url) }

func TestMain(m *testing.M) { storetest.Main(m, open) }

// server returns the URL of the server that the tests may use, or skips the test.
func server(t testing.TB) *url.URL {
	t.Helper()
	text := os.Getenv("KITEBASE_TEST_POSTGRES")
	if text == "" {
		t.Skip("KITEBASE_TEST_POSTGRES is not set to the URL of a PostgreSQL server")
	}
	server, err := url.Parse(text)
	require.NoError(t, err)
	return server
}

// fresh returns the URL of a schema that does not exist yet and is dropped after the test.
func fresh(t testing.TB) string {
	t.Helper()
	server, schema := server(t), "test_"+strings.ToLower(rand.Text())
	t.Cleanup(func() { exec(t, "DROP SCHEMA IF EXISTS "+schema+" CASCADE") })
	query := server.Query()
	query.Set("search_path", schema)
	server.RawQuery = query.Encode()
	return server.String()
}

// exec runs SQL on the server, past the store.
func exec(t testing.TB, sql string, args ...any) {
	t.Helper()
	ctx := context.Background() // the test's own ends before its cleanup
	conn, err := pgx.Connect(ctx, server(t).String())
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(ctx)) }()
	_, err = conn.Exec(ctx, sql, args...)
	require.NoError(t, err)
}

func TestStore(t *testing.T) {
	server(t)
	storetest.Run(t, func(t *testing.T) idempotency.Store {
		store, err := postgres.Open(t.Context(), fresh(t))
		require.NoError(t, err)
		return store
	})
}

func TestSharedStore(t *testing.T) {
	server(t)
	storetest.RunShared(t, open, fresh)
}

func BenchmarkStore(b *testing.B) {
	server(b)
	storetest.Benchmark(b, open, fresh)
}
