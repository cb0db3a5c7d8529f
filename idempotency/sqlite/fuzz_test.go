package sqlite_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/idempotency/sqlite"
	"github.com/kitebase/kitebase-mcp/idempotency/storetest"
)

// FuzzStore states: whatever is done to a store in whatever order, the file answers as the memory does. Every record thereby goes
// through a row and back.
func FuzzStore(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x00\x00\x00\x05\x01\x07\x00\x00\x00"), "Any update?", []byte(`{}`))
	f.Add([]byte("\x00\x00\x08\x00\x00\x10\x08\x00\x04\x00\x00\x01\x05\x00\x00\x00\x06\x01\x02\x7f"), "\xff\x00 é", []byte{})
	f.Add([]byte("\x00\x00\x00\x00\x00\x00\x04\x01\x00\x00\x08\x03\x04\x00\x00\x01\x06\x00\x00\x41"), "", []byte(nil))
	store, err := sqlite.Open(f.Context(), fresh(f)) // one for all inputs: opening takes much longer than using
	require.NoError(f, err)
	f.Cleanup(func() { require.NoError(f, store.Close()) })
	f.Fuzz(func(t *testing.T, program []byte, text string, result []byte) {
		storetest.Model(t, store, program[:min(len(program), 200)], text, result)
	})
}
