package sqlite_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/idempotency"
)

// A full disk must not cost what was written before, and must not be the end of the ledger.
func TestFullDisk(t *testing.T) {
	disk := t.TempDir()
	if err := syscall.Mount("none", disk, "tmpfs", 0, "size=2m"); err != nil {
		t.Skipf("only root may mount a small disk: %v", err)
	}
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(disk, 0)) })
	store := opened(t, filepath.Join(disk, "ledger.db"))
	filler := filepath.Join(disk, "filler")
	require.NoError(t, os.WriteFile(filler, make([]byte, 1<<20), 0o600))

	kept, full := 0, error(nil)
	for i := 0; full == nil && i < 1000; i++ {
		r := finished(i)
		r.Result = []byte(strings.Repeat("x", 20_000))
		var written bool
		if _, written, full = store.Put(t.Context(), r, 0); written {
			kept++
		}
	}
	require.ErrorContains(t, full, "the disk is full; free some space")
	require.Positive(t, kept)
	found, err := store.Find(t.Context(), idempotency.Query{})
	require.NoError(t, err, "reads go on")
	require.Len(t, found, kept, fmt.Sprint("after ", full))

	require.NoError(t, os.Remove(filler))
	put(t, store, finished(5000))
}
