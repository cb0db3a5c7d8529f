package audit_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server/audit"
)

// trailIn opens a file and returns a function that writes an entry about a ticket into it.
func trailIn(t *testing.T, path string) (write func(ticket string) error) {
	t.Helper()
	file, err := audit.OpenFile(path)
	require.NoError(t, err)
	t.Cleanup(func() { file.Close() })
	return func(ticket string) error {
		var told strings.Builder
		audit.New(file.Handler(), slog.NewTextHandler(&told, nil)).Write(t.Context(), audit.Entry{Event: audit.Call, Ticket: ticket})
		if told.Len() == 0 {
			return nil
		}
		return errors.New(told.String())
	}
}

// tickets returns the tickets of the lines of a file, each of which must be a whole object.
func tickets(t *testing.T, path string) (found []string) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		var entry struct{ Time, Event, Ticket string }
		require.NoError(t, json.Unmarshal([]byte(line), &entry), line)
		require.NotEmpty(t, entry.Time)
		found = append(found, entry.Ticket)
	}
	return found
}

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	require.NoError(t, trailIn(t, path)("KITE-1"))
	require.NoError(t, trailIn(t, path)("KITE-2"), "another process, later")
	require.Equal(t, []string{"KITE-1", "KITE-2"}, tickets(t, path))
	info, err := os.Stat(path)
	require.NoError(t, err)
	if runtime.GOOS != "windows" {
		require.Equal(t, os.FileMode(0o600), info.Mode())
	}
}

// logrotate renames the file, with or without making a new one, or somebody removes it.
func TestFileRotated(t *testing.T) {
	dir := t.TempDir()
	path, old := filepath.Join(dir, "audit.jsonl"), filepath.Join(dir, "audit.jsonl.1")
	write := trailIn(t, path)
	require.NoError(t, write("KITE-1"))
	require.NoError(t, os.Rename(path, old))
	require.NoError(t, write("KITE-2"))
	require.Equal(t, []string{"KITE-1"}, tickets(t, old))
	require.Equal(t, []string{"KITE-2"}, tickets(t, path))

	require.NoError(t, os.Remove(path))
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	require.NoError(t, write("KITE-3"))
	require.Equal(t, []string{"KITE-3"}, tickets(t, path))
}

// Its folder is gone: that is told, each time, until it is back.
func TestFileCannotBeWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "logs")
	require.NoError(t, os.Mkdir(dir, 0o755))
	path := filepath.Join(dir, "audit.jsonl")
	write := trailIn(t, path)
	require.NoError(t, os.RemoveAll(dir))
	for range 2 {
		require.ErrorContains(t, write("KITE-1"), "opening the audit log")
	}
	require.NoError(t, os.Mkdir(dir, 0o755))
	require.NoError(t, write("KITE-2"))
	require.Equal(t, []string{"KITE-2"}, tickets(t, path))
}

func TestOpenFile(t *testing.T) {
	dir := t.TempDir()
	_, err := audit.OpenFile(dir)
	require.ErrorContains(t, err, "no regular file")
	_, err = audit.OpenFile(filepath.Join(dir, "missing", "audit.jsonl"))
	require.ErrorContains(t, err, "opening the audit log")
}

func TestFileIsShared(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	var writers sync.WaitGroup
	for n := range 4 {
		write := trailIn(t, path)
		writers.Go(func() {
			for i := range 100 {
				if err := write(fmt.Sprintf("KITE-%d%02d", n+1, i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	require.Len(t, tickets(t, path), 400)
}
