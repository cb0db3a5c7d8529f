package main_test

import (
	"bytes"
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"github.com/gofrs/flock"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite" // the database/sql driver "sqlite"
)

// TestLedgerIsCreated: the first start makes what is missing, for nobody else to read.
func TestLedgerIsCreated(t *testing.T) {
	t.Parallel()
	s := newScene(t, false)
	s.ledger = filepath.Join(filepath.Dir(s.ledger), "state", "kitebase-mcp", "ledger.db")
	server := s.serve(t)
	require.Empty(t, server.call("reply_to_customer", replyTo(crashTicket, crashText)).reply(t).Note)
	require.FileExists(t, s.ledger+"-wal")
	requirePrivate(t, filepath.Dir(filepath.Dir(s.ledger)))
	server.end()
	requirePrivate(t, filepath.Dir(filepath.Dir(s.ledger)))
	require.True(t, s.serve(t).call("reply_to_customer", replyTo(crashTicket, crashText)).reply(t).AlreadySent)
}

// TestLedgerCannotBeUsed: what a ledger may meet in the field. Reads go on at once; replies follow the policy.
func TestLedgerCannotBeUsed(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(t *testing.T, s *scene){
		"a directory is in its place": func(t *testing.T, s *scene) {
			require.NoError(t, os.Mkdir(s.ledger, 0o700))
		},
		"its directory cannot be made": func(t *testing.T, s *scene) {
			file := filepath.Join(t.TempDir(), "file")
			require.NoError(t, os.WriteFile(file, nil, 0o600))
			s.ledger = filepath.Join(file, "kitebase-mcp", "ledger.db")
		},
		"its directory cannot be written to": func(t *testing.T, s *scene) {
			if os.Geteuid() == 0 {
				t.Skip("root may write everywhere")
			}
			require.NoError(t, os.Chmod(filepath.Dir(s.ledger), 0o500))
		},
		"another process keeps it locked": func(t *testing.T, s *scene) {
			lock := flock.New(s.ledger + ".lock")
			require.NoError(t, lock.Lock())
			t.Cleanup(func() { require.NoError(t, lock.Unlock()) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachUpstream(t, func(t *testing.T, keys bool) {
				s := newScene(t, keys)
				spoil(t, s)
				server := s.serve(t)
				s.requirePolicy(t, server)
				server.end()
				require.Contains(t, server.stderr.String(), "the ledger cannot be used")
			})
		})
	}
}

// TestNewerLedger: a later release wrote the file. It is not touched.
func TestNewerLedger(t *testing.T) {
	t.Parallel()
	eachUpstream(t, func(t *testing.T, keys bool) {
		s := newScene(t, keys)
		s.used(t)
		db, err := sql.Open("sqlite", "file:"+s.ledger)
		require.NoError(t, err)
		_, err = db.Exec("PRAGMA user_version = 1000")
		require.NoError(t, err)
		require.NoError(t, db.Close())
		before, err := os.ReadFile(s.ledger)
		require.NoError(t, err)

		s = &scene{newScene(t, keys).kitebase, s.ledger, keys}
		server := s.serve(t)
		s.requirePolicy(t, server)
		server.end()
		require.Contains(t, server.stderr.String(), "newer")
		after, err := os.ReadFile(s.ledger)
		require.NoError(t, err)
		require.True(t, bytes.Equal(before, after), "the file was changed")
		require.Equal(t, 1, s.command(t, "list").code)
	})
}

// TestDamagedLedger: the file is kept for a person to look at. Where Kitebase honours keys a new one is begun. Where it does
// not, nobody would recognise a repeat of what the old one knew: replies are refused until a person has looked.
func TestDamagedLedger(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(content []byte) []byte{
		"garbage":           func([]byte) []byte { return bytes.Repeat([]byte("garbage\n"), 1000) },
		"cut in the header": func(content []byte) []byte { return content[:60] },
		"cut in the middle": func(content []byte) []byte { return content[:len(content)/2+100] },
		"cut to a page":     func(content []byte) []byte { return content[:4096] },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachUpstream(t, func(t *testing.T, keys bool) {
				s := newScene(t, keys)
				damaged := damage(s.used(t))
				require.NoError(t, os.WriteFile(s.ledger, damaged, 0o600))

				listed := s.command(t, "list")
				require.Equal(t, 1, listed.code, "a look at a damaged ledger must not begin a new one: %s", listed.stdout)
				require.Contains(t, listed.stderr, "damaged")

				server := s.serve(t)
				requireReads(t, server)
				again := server.call("reply_to_customer", replyTo("KITE-101", "Hello"))
				require.Len(t, s.kitebase.emailsTo("KITE-101"), 1, "sent once before the damage, once more after it")
				if keys {
					require.True(t, again.reply(t).AlreadySent)
				} else {
					require.Contains(t, again.text(), "not run")
					require.Equal(t, "person", again.Meta.Error.Next, again.text())
				}
				requireReads(t, server)
				server.end()
				require.Contains(t, server.stderr.String(), "damaged")
				s.keeps(t, damaged)
			})
		})
	}
}
