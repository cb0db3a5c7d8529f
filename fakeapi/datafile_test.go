package fakeapi_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/fakeapi"
)

func TestDataFileOutlivesTheProcess(t *testing.T) {
	cfg := fakeapi.Config{DataFile: filepath.Join(t.TempDir(), "desk.json")}
	first := newDesk(t, cfg)
	sent := first.send("k", "Hello")
	first.do("PUT", "/v1/tickets/KITE-142/assignee", `{"assignee":"priya"}`)
	require.NoError(t, first.CustomerWrites("KITE-142", "Thanks!"))
	ticket, outbox := first.ticket("KITE-142"), first.Outbox()

	second := newDesk(t, cfg)
	require.Equal(t, ticket, second.ticket("KITE-142"))
	require.Equal(t, outbox, second.Outbox())
	again := second.send("k", "Hello")
	require.Equal(t, http.StatusOK, again.status, "the key is still known")
	require.Equal(t, sent.body, again.body)
	require.Equal(t, "rpl_002", second.send("k2", "Bye").field(t, "reply_id"), "ids go on")

	third := newDesk(t, cfg)
	require.Len(t, third.ticket("KITE-142").Messages, len(ticket.Messages)+1)
	require.Len(t, third.Outbox(), 2)
}

func TestForeignDataFileIsLeftAlone(t *testing.T) {
	for name, content := range map[string]string{
		"garbage":           "not JSON",
		"empty":             "",
		"cut in the middle": `{"format":"kitebase-fake/1","tickets":{"KITE-1`,
		"other JSON":        `{"name":"something else"}`,
		"other format":      `{"format":"kitebase-fake/9","tickets":{},"outbox":[]}`,
		"unknown ticket":    `{"format":"kitebase-fake/1","tickets":{"KITE-412":{}},"outbox":[]}`,
		"unknown email":     `{"format":"kitebase-fake/1","tickets":{},"outbox":[{"ticket_id":"KITE-412"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "desk.json")
			require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
			_, err := fakeapi.New(fakeapi.Config{DataFile: path})
			require.ErrorContains(t, err, path+" is not a data file of this fake")
			require.ErrorContains(t, err, "move it away, or name another file")
			kept, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, content, string(kept))
		})
	}
}

func TestDataFileThatCannotBeWritten(t *testing.T) {
	t.Run("from the start", func(t *testing.T) {
		_, err := fakeapi.New(fakeapi.Config{DataFile: filepath.Join(t.TempDir(), "missing", "desk.json")})
		require.ErrorContains(t, err, "writing the data file")
	})
	t.Run("later on: nothing is sent or changed", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "gone")
		require.NoError(t, os.Mkdir(dir, 0o700))
		d := newDesk(t, fakeapi.Config{DataFile: filepath.Join(dir, "desk.json")})
		before := d.ticket("KITE-142")
		require.NoError(t, os.RemoveAll(dir))

		require.Equal(t, http.StatusInternalServerError, d.send("k", "Hello").status)
		require.Equal(t, http.StatusInternalServerError, d.do("PUT", "/v1/tickets/KITE-142/assignee", `{"assignee":"priya"}`).status)
		require.Error(t, d.CustomerWrites("KITE-142", "Hello?"))
		require.Equal(t, before, d.ticket("KITE-142"))
		require.Empty(t, d.Outbox())

		require.NoError(t, os.Mkdir(dir, 0o700))
		require.Equal(t, "rpl_001", d.send("k", "Hello").field(t, "reply_id"), "the key was not used up")
	})
}

func TestNoTemporaryFileIsLeft(t *testing.T) {
	dir := t.TempDir()
	d := newDesk(t, fakeapi.Config{DataFile: filepath.Join(dir, "desk.json")})
	d.send("k", "Hello")
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, files, 1)
}
