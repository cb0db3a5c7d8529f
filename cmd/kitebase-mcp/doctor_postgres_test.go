package main_test

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"io"
	"net"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// TestDoctorOnPostgres: what can be wrong with a ledger in PostgreSQL, and what doctor says to do.
func TestDoctorOnPostgres(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ledger func(*testing.T) string
		status string
		found  string
	}{
		"well": {freshPostgres, "ok", "It is the database of --ledger, which can be written. Nothing in it is unconfirmed."},
		"newer": {func(t *testing.T) string {
			ledger := freshPostgres(t)
			require.Zero(t, start{args: []string{"ledger", "list", "--ledger", ledger}}.run(t, "").code)
			execOn(t, ledger, "UPDATE schema_version SET version = 99")
			return ledger
		}, "FAIL", "a newer kitebase-mcp wrote it; update kitebase-mcp, or choose another ledger"},
		"no right to create tables": {func(t *testing.T) string { return asNewcomer(t, freshPostgres(t)) }, "FAIL", "GRANT CREATE ON DATABASE"},
		"no such database": {func(t *testing.T) string {
			return strings.Replace(freshPostgres(t), "/postgres?", "/no_such_database?", 1)
		}, "FAIL", "there is no such database; create it, or correct the URL"},
		"wrong password": {func(t *testing.T) string {
			return "postgres://priya:tok-secret@" + refusingPostgres(t, "28P01") + "/ledger?sslmode=disable"
		}, "FAIL", "it refuses this user or password"},
		"too many connections": {func(t *testing.T) string {
			return "postgres://priya:tok-secret@" + refusingPostgres(t, "53300") + "/ledger?sslmode=disable"
		}, "FAIL", "it has as many connections as it takes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			end := healthy("--ledger="+c.ledger(t))(t).run(t, "")
			require.NotContains(t, end.stdout+end.stderr, "tok-secret")
			var line string
			for found := range strings.Lines(end.stdout) {
				if strings.Contains(found, " ledger ") {
					line += found
				}
			}
			require.True(t, strings.HasPrefix(line, c.status), end.stdout)
			require.Contains(t, line, c.found)
			require.Equal(t, map[string]int{"ok": 0, "FAIL": 1}[c.status], end.code)
		})
	}
}

func execOn(t *testing.T, database, sql string) {
	t.Helper()
	ctx := context.Background() // the test's own ends before its cleanup
	conn, err := pgx.Connect(ctx, database)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(ctx)) }()
	_, err = conn.Exec(ctx, sql)
	require.NoError(t, err)
}

// asNewcomer returns the URL for a user who may only connect.
func asNewcomer(t *testing.T, ledger string) string {
	t.Helper()
	address, err := url.Parse(ledger)
	require.NoError(t, err)
	name := "newcomer_" + strings.ToLower(rand.Text())
	execOn(t, ledger, "CREATE ROLE "+name+" LOGIN PASSWORD 'tok-secret'")
	t.Cleanup(func() { execOn(t, ledger, "DROP ROLE "+name) })
	address.User = url.UserPassword(name, "tok-secret")
	return address.String()
}

// refusingPostgres is a PostgreSQL that answers whoever connects with an error (protocol 3.0: a startup message, then "E").
func refusingPostgres(t *testing.T, code string) (addr string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, listener.Close()) })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			refuse(conn, code)
		}
	}()
	return listener.Addr().String()
}

func refuse(conn net.Conn, code string) {
	defer conn.Close()
	var size [4]byte
	if _, err := io.ReadFull(conn, size[:]); err != nil {
		return
	}
	if _, err := io.CopyN(io.Discard, conn, int64(binary.BigEndian.Uint32(size[:]))-4); err != nil {
		return
	}
	fields := "SFATAL\x00VFATAL\x00C" + code + "\x00Mno, tok-secret\x00\x00"
	answer := append([]byte{'E'}, binary.BigEndian.AppendUint32(nil, uint32(len(fields)+4))...)
	_, _ = conn.Write(append(answer, fields...)) // who has gone does not read it
}
