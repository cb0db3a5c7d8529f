package sqlite_test

import (
	"context"
	"database/sql"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/idempotency/sqlite"
)

// filled returns the path of a closed ledger with that many records.
func filled(t *testing.T, records int) string {
	t.Helper()
	path := fresh(t)
	store := opened(t, path)
	for i := range records {
		put(t, store, finished(i))
	}
	require.NoError(t, store.Close())
	return path
}

func opened(t *testing.T, path string) *sqlite.Store {
	t.Helper()
	store, err := sqlite.Open(t.Context(), path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	return store
}

func finished(i int) idempotency.Record {
	return idempotency.Record{
		Fingerprint: fmt.Sprint("reply ", i), Generation: 1, Version: int64(i) + 1, State: idempotency.Finished,
		LastAt: time.Unix(int64(i), 0), Result: []byte(strings.Repeat("x", 500)),
	}
}

func put(t *testing.T, store *sqlite.Store, r idempotency.Record) {
	t.Helper()
	_, written, err := store.Put(t.Context(), r, 0)
	require.NoError(t, err)
	require.True(t, written)
}

// change runs SQL on a closed ledger, past the store.
func change(t *testing.T, path, statements string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	_, err = db.Exec(statements)
	require.NoError(t, err)
	require.NoError(t, db.Close())
}

func TestOpenRefuses(t *testing.T) {
	for _, test := range []struct {
		name string
		do   func(t *testing.T, path string)
		want error
	}{
		{"garbage", func(t *testing.T, path string) {
			require.NoError(t, os.WriteFile(path, []byte(strings.Repeat("not a ledger. ", 1000)), 0o600))
		}, sqlite.ErrBadFile},
		{"a little garbage", func(t *testing.T, path string) {
			require.NoError(t, os.WriteFile(path, []byte("x"), 0o600))
		}, sqlite.ErrBadFile},
		{"a truncated file", func(t *testing.T, path string) {
			require.NoError(t, os.Truncate(path, 20_000))
		}, sqlite.ErrBadFile},
		{"a newer schema", func(t *testing.T, path string) {
			change(t, path, "PRAGMA user_version = 99")
		}, sqlite.ErrNewer},
		{"another program's database", func(t *testing.T, path string) {
			require.NoError(t, os.Remove(path))
			change(t, path, "CREATE TABLE cats (name)")
		}, sqlite.ErrForeign},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filled(t, 50)
			test.do(t, path)
			before, err := os.ReadFile(path)
			require.NoError(t, err)
			_, err = sqlite.Open(t.Context(), path)
			require.ErrorIs(t, err, test.want)
			require.ErrorContains(t, err, path)
			require.NotContains(t, err.Error(), "\n")
			after, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, before, after, "the file was changed")
		})
	}
}

func TestSetAside(t *testing.T) {
	t.Run("keeps the bad file and makes room", func(t *testing.T) {
		path := filled(t, 1)
		require.NoError(t, os.WriteFile(path, []byte("garbage"), 0o600))
		require.NoError(t, os.WriteFile(path+"-wal", []byte("log"), 0o600))
		aside, err := sqlite.SetAside(path)
		require.NoError(t, err)
		require.Contains(t, aside, path+".bad-")
		for name, want := range map[string]string{aside: "garbage", aside + "-wal": "log"} {
			kept, err := os.ReadFile(name)
			require.NoError(t, err)
			require.Equal(t, want, string(kept))
		}
		put(t, opened(t, path), finished(1))
	})

	t.Run("leaves a good file alone: another process was quicker", func(t *testing.T) {
		path := filled(t, 3)
		aside, err := sqlite.SetAside(path)
		require.NoError(t, err)
		require.Empty(t, aside)
		found, err := opened(t, path).Find(t.Context(), idempotency.Query{})
		require.NoError(t, err)
		require.Len(t, found, 3)
	})

	t.Run("sees damage that opening does not", func(t *testing.T) {
		path := filled(t, 200)
		size := fileSize(t, path)
		file, err := os.OpenFile(path, os.O_WRONLY, 0)
		require.NoError(t, err)
		_, err = file.WriteAt([]byte(strings.Repeat("\xff", 4096)), size-size%4096-8*4096)
		require.NoError(t, err)
		require.NoError(t, file.Close())
		aside, err := sqlite.SetAside(path)
		require.NoError(t, err)
		require.NotEmpty(t, aside)
	})

	t.Run("does not touch another program's file", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "cats.db")
		change(t, path, "CREATE TABLE cats (name)")
		_, err := sqlite.SetAside(path)
		require.ErrorIs(t, err, sqlite.ErrForeign)
		require.FileExists(t, path)
	})
}

// A wrong path must not cost a file: a person's notes were renamed, and a device lost its rights.
func TestOpenOfSomethingElse(t *testing.T) {
	notes := filepath.Join(t.TempDir(), "notes.txt")
	require.NoError(t, os.WriteFile(notes, []byte(strings.Repeat("dear diary ", 100)), 0o644)) //nolint:gosec // as editors do
	_, err := sqlite.Open(t.Context(), notes)
	require.ErrorIs(t, err, sqlite.ErrForeign)
	kept, err := os.ReadFile(notes)
	require.NoError(t, err)
	require.Contains(t, string(kept), "dear diary")
	requireAlone(t, notes)

	socket := filepath.Join(t.TempDir(), "socket.db")
	listener, err := net.Listen("unix", socket)
	require.NoError(t, err)
	defer func() { _ = listener.Close() }()
	_, err = sqlite.Open(t.Context(), socket)
	require.ErrorIs(t, err, sqlite.ErrForeign)
	requireAlone(t, socket)

	directory := filepath.Join(t.TempDir(), "directory")
	require.NoError(t, os.Mkdir(directory, 0o700))
	_, err = sqlite.Open(t.Context(), directory)
	require.ErrorContains(t, err, "choose another file with --ledger")
	requireAlone(t, directory)

	database := filepath.Join(t.TempDir(), "other.db")
	db, err := sql.Open("sqlite", "file:"+database)
	require.NoError(t, err)
	_, err = db.Exec("CREATE TABLE songs (title)")
	require.NoError(t, err)
	require.NoError(t, db.Close())
	_, err = sqlite.Open(t.Context(), database)
	require.ErrorIs(t, err, sqlite.ErrForeign)
	requireAlone(t, database)
}

// requireAlone holds that nothing was left beside the file.
func requireAlone(t *testing.T, path string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, entries, 1, "%v", entries)
}

func TestOpenWhereNobodyMayWrite(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for name, path := range map[string]string{
		"the directory is a file": filepath.Join(file, "ledger.db"), "the file is a directory": t.TempDir(),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := sqlite.Open(t.Context(), path)
			require.ErrorContains(t, err, "writable for this user")
			require.NotErrorIs(t, err, sqlite.ErrBadFile)
		})
	}
	t.Run("a directory without the right to write", func(t *testing.T) {
		if os.Geteuid() <= 0 {
			t.Skip("root may write everywhere, and Windows has other rights")
		}
		dir := t.TempDir()
		require.NoError(t, os.Chmod(dir, 0o500)) //nolint:gosec // a directory needs x
		_, err := sqlite.Open(t.Context(), filepath.Join(dir, "ledger.db"))
		require.ErrorContains(t, err, "writable for this user")
	})
}

func TestFileModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has other rights")
	}
	path := fresh(t)
	put(t, opened(t, path), finished(1))
	for name, want := range map[string]os.FileMode{
		path: 0o600, path + "-wal": 0o600, path + "-shm": 0o600, path + ".lock": 0o600,
		path + ".owners": 0o700, filepath.Dir(path): 0o700,
	} {
		info, err := os.Stat(name)
		require.NoError(t, err)
		require.Equal(t, want, info.Mode().Perm(), name)
	}
}

func TestOddPaths(t *testing.T) {
	for _, name := range []string{"with space", "100%", "what?", "a#b", "ünï", "a&b=c", "file:x"} {
		if runtime.GOOS == "windows" && strings.ContainsAny(name, "?:") {
			continue
		}
		path := filepath.Join(t.TempDir(), name, name+".db")
		put(t, opened(t, path), finished(1))
		require.FileExists(t, path)
	}
}

func TestLockedByAnother(t *testing.T) {
	path := fresh(t)
	store := opened(t, path)
	lock := flock.New(path + ".lock")
	require.NoError(t, lock.Lock())

	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(0, cancel)
	_, written, err := store.Put(ctx, finished(1), 0)
	require.ErrorIs(t, err, context.Canceled)
	require.False(t, written)
	ctx, cancel = context.WithCancel(t.Context())
	time.AfterFunc(0, cancel)
	_, err = sqlite.Open(ctx, path)
	require.ErrorIs(t, err, context.Canceled)
	found, err := store.Find(t.Context(), idempotency.Query{})
	require.NoError(t, err, "reads go on")
	require.Empty(t, found)

	require.NoError(t, lock.Unlock())
	put(t, store, finished(1))
}

func TestDeadOwnersAreBuried(t *testing.T) {
	path := fresh(t)
	store := opened(t, path)
	dead := filepath.Join(path+".owners", "4711-DEAD")
	require.NoError(t, os.WriteFile(dead, nil, 0o600))
	opened(t, path)
	require.NoFileExists(t, dead)
	require.FileExists(t, filepath.Join(path+".owners", store.Owner()))
	require.NoError(t, store.Close())
	require.NoFileExists(t, filepath.Join(path+".owners", store.Owner()))
}

// A ledger that only grows fills the disk of someone who never looks at it.
func TestFileIsBounded(t *testing.T) {
	path := filled(t, 1000)
	full := fileSize(t, path)
	store := opened(t, path)
	purged, err := store.Purge(t.Context(), time.Unix(950, 0))
	require.NoError(t, err)
	require.Equal(t, 950, purged)
	require.NoError(t, store.Close())
	require.Less(t, fileSize(t, path), full/5)
}

func fileSize(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	require.NoError(t, err)
	return info.Size()
}
