package audit_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server/audit"
)

// The level of the log does not matter, and no field can begin a line of its own.
func TestWrite(t *testing.T) {
	var lines bytes.Buffer
	trail := audit.New(slog.NewTextHandler(&lines, &slog.HandlerOptions{Level: slog.LevelError}), nil)
	trail.Write(t.Context(), audit.Entry{
		Event: audit.Call, Who: "priya\nlevel=INFO msg=audit\x1b[2J\u202e", Tool: "assign_ticket", Ticket: strings.Repeat("K", 300),
	})
	require.Equal(t, 1, strings.Count(lines.String(), "\n"))
	require.Contains(t, lines.String(), `msg=audit event=call who="priyalevel=INFO msg=audit[2J" tool=assign_ticket ticket=`+strings.Repeat("K", 100)+" attempts=0")
}

type fullDisk struct{ slog.Handler }

func (fullDisk) Handle(context.Context, slog.Record) error { return errors.New("the disk is full") }

func TestWriteFails(t *testing.T) {
	var log bytes.Buffer
	entry := audit.Entry{Event: audit.Call, Call: "k3f9a-1", Ticket: "KITE-142", ReplyID: "rpl_001", Attempts: 1}
	audit.New(fullDisk{}, slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelError})).Write(t.Context(), entry)
	require.Contains(t, log.String(), `level=ERROR msg="an audit line could not be written" event=call call=k3f9a-1 ticket=KITE-142 `+
		`reply_id=rpl_001 attempts=1 cause="the disk is full"`, "the line itself is not lost")
	audit.New(fullDisk{}, nil).Write(t.Context(), audit.Entry{})
	(*audit.Log)(nil).Write(t.Context(), audit.Entry{})
}

// Trying leaves everything as it was.
func TestTry(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "audit.jsonl")
	require.NoError(t, audit.Try(path))
	require.NoFileExists(t, path)
	require.NoError(t, os.WriteFile(path, []byte("a line\n"), 0o600))
	require.NoError(t, audit.Try(path))
	for _, bad := range []string{dir, filepath.Join(path, "under"), filepath.Join(dir, "none", "audit.jsonl")} {
		_, err := audit.OpenFile(bad)
		require.Error(t, err)
		require.Error(t, audit.Try(bad))
	}
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 1)
	kept, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "a line\n", string(kept))
}
