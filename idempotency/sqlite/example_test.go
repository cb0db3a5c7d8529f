package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/idempotency/sqlite"
)

func ExampleOpen() {
	dir, _ := os.MkdirTemp("", "")
	defer func() { _ = os.RemoveAll(dir) }()
	store, err := sqlite.Open(context.Background(), filepath.Join(dir, "ledger.db"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = store.Close() }()

	claim := idempotency.Record{
		Fingerprint: "f", Generation: 1, State: idempotency.Claimed, Owner: store.Owner(), LastAt: time.Now(), Version: 1,
	}
	for range 2 {
		stored, written, err := store.Put(context.Background(), claim, 0)
		fmt.Println(stored.State, written, err)
	}
	// Output:
	// claimed true <nil>
	// claimed false <nil>
}

func ExampleSetAside() {
	dir, _ := os.MkdirTemp("", "")
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "ledger.db")
	_ = os.WriteFile(path, []byte(strings.Repeat("garbage ", 100)), 0o600)

	_, err := sqlite.Open(context.Background(), path)
	fmt.Println(errors.Is(err, sqlite.ErrBadFile))
	aside, err := sqlite.SetAside(path)
	fmt.Println(strings.HasPrefix(aside, path+".bad-"), err)
	store, err := sqlite.Open(context.Background(), path)
	fmt.Println(err, store.Close())
	// Output:
	// true
	// true <nil>
	// <nil> <nil>
}
