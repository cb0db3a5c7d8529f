package postgres_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/idempotency/postgres"
)

// A URL goes into configuration files, an error into logs and bug reports.
func TestErrorsHoldNoPassword(t *testing.T) {
	for name, address := range map[string]string{
		"nobody listens":     "postgres://priya:s3cret@127.0.0.1:1/ledger",
		"escaped":            "postgres://priya:s3cret%2Fs3cret@127.0.0.1:1/ledger",
		"bad port":           "postgres://priya:s3cret@127.0.0.1:port/ledger",
		"bad host":           "postgres://priya:s3cret@[::1/ledger",
		"bad escape":         "postgres://priya:s3cret%zz@127.0.0.1/ledger",
		"bad setting":        "postgres://priya:s3cret@127.0.0.1/ledger?sslmode=s3cret",
		"as a parameter":     "postgres://127.0.0.1:1/ledger?user=priya&password=s3cret",
		"as words":           "host=127.0.0.1 port=1 user=priya password=s3cret dbname=ledger",
		"as words, mistyped": "host=127.0.0.1 port=x user=priya password='s3cret' dbname=ledger",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := postgres.Open(t.Context(), address)
			require.ErrorContains(t, err, "opening the ledger database: ")
			require.NotContains(t, err.Error(), "s3cret")
			require.NotContains(t, err.Error(), "\n")
		})
	}
}

// The text was struck through ("o***ening"), which spelled the password.
func TestShortPasswordSpoilsNoText(t *testing.T) {
	_, err := postgres.Open(t.Context(), "postgres://priya:p@127.0.0.1:1/ledger?sslmode=disable")
	require.ErrorContains(t, err, "opening the ledger database: it cannot be reached; check host and port")
	require.ErrorContains(t, err, "failed to connect to `user=priya database=ledger`")
	require.NotContains(t, err.Error(), "***")
}

func TestNewerSchemaIsRefused(t *testing.T) {
	address := fresh(t)
	opened(t, address)
	exec(t, fmt.Sprintf("UPDATE %s.schema_version SET version = 99", schemaOf(t, address)))
	_, err := postgres.Open(t.Context(), address)
	require.ErrorIs(t, err, postgres.ErrNewer)
}

func TestOneBadRecordDoesNotTakeItsNeighboursAlong(t *testing.T) {
	store := opened(t, fresh(t))
	errs := make(chan error, 2)
	for _, key := range []string{"good", "bad\x00"} {
		go func() {
			_, _, err := store.Put(t.Context(), claim(store, key), 0)
			errs <- err
		}()
	}
	first, second := <-errs, <-errs
	if first == nil {
		first, second = second, first
	}
	require.ErrorContains(t, first, "not valid UTF-8 without NUL")
	require.NoError(t, second)
}

// When the server restarts, or a proxy cuts what is idle, all connections end at once, under processes that live.
func TestCutConnections(t *testing.T) {
	address := fresh(t)
	store := opened(t, address+"&application_name="+schemaOf(t, address))
	witness := opened(t, address)
	before := claim(store, "before")
	_, written, err := store.Put(t.Context(), before, 0)
	require.NoError(t, err)
	require.True(t, written)

	for round := range 3 {
		exec(t, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1", schemaOf(t, address))
		require.Eventually(t, func() bool {
			alive, err := witness.Alive(t.Context(), store.Owner())
			require.NoError(t, err)
			require.True(t, alive, "a living owner was taken for dead")
			_, written, err := store.Put(t.Context(), claim(store, fmt.Sprint("after ", round)), 0)
			return err == nil && written
		}, 30*time.Second, 10*time.Millisecond, "no claim after a cut")
	}
	done := before
	done.State, done.Version = idempotency.Finished, before.Version+1
	_, written, err = store.Put(t.Context(), done, before.Version)
	require.NoError(t, err)
	require.True(t, written)
}

// A write whose answer is lost is tried again, and finds what the first try had written.
func TestIdleConnectionsMayBeDead(t *testing.T) {
	address := fresh(t)
	store := opened(t, address+"&application_name="+schemaOf(t, address))
	for i := range 5 {
		exec(t, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1", schemaOf(t, address))
		r := claim(store, fmt.Sprint(i))
		r.State = idempotency.Held // needs no lock
		_, written, err := store.Put(t.Context(), r, 0)
		require.NoError(t, err)
		require.True(t, written)
		removed, err := store.Delete(t.Context(), r)
		require.NoError(t, err)
		require.True(t, removed)
	}
}

func opened(t *testing.T, address string) *postgres.Store {
	t.Helper()
	store, err := postgres.Open(t.Context(), address)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	return store
}

func schemaOf(t *testing.T, address string) string {
	t.Helper()
	parsed, err := url.Parse(strings.SplitN(address, "&application_name", 2)[0])
	require.NoError(t, err)
	return parsed.Query().Get("search_path")
}

func claim(store *postgres.Store, key string) idempotency.Record {
	return idempotency.Record{
		Fingerprint: key, Generation: 1, Key: key, State: idempotency.Claimed, Owner: store.Owner(), Version: 7,
		Lease: time.Now().Add(time.Minute), LastAt: time.Now(),
	}
}
