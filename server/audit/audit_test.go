package audit_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
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
	var failed error
	audit.New(fullDisk{}, func(err error) { failed = err }).Write(t.Context(), audit.Entry{})
	require.EqualError(t, failed, "the disk is full")
	audit.New(fullDisk{}, nil).Write(t.Context(), audit.Entry{})
	(*audit.Log)(nil).Write(t.Context(), audit.Entry{})
}
