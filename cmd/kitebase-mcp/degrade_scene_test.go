package main_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// requireReads shows that reading goes on, whatever became of the ledger.
func requireReads(t *testing.T, server *child) {
	t.Helper()
	for tool, arguments := range map[string]string{
		"search_help": `{"query":"sso"}`, "get_ticket": `{"ticket_id":"KITE-142"}`, "search_tickets": `{"query":"sso"}`,
	} {
		r := server.call(tool, arguments)
		require.False(t, r.IsError, r.text())
	}
}

// requirePolicy shows what becomes of a reply while the ledger cannot be used. A Kitebase with keys still recognises a repeat,
// so the reply is sent and says what is wrong. Without keys nothing would, so it is refused, in words that send for a person.
func (s *scene) requirePolicy(t *testing.T, server *child) {
	t.Helper()
	requireReads(t, server)
	r := server.call("reply_to_customer", replyTo(crashTicket, crashText))
	requireTrue(t, r, s.kitebase.emailsTo(crashTicket))
	if !s.keys {
		require.True(t, r.IsError)
		require.Equal(t, "not_done", r.Meta.Error.Outcome, r.text())
		require.Equal(t, "person", r.Meta.Error.Next)
		require.Contains(t, r.text(), "person")
		require.Empty(t, s.kitebase.Outbox())
		requireReads(t, server)
		return
	}
	require.Contains(t, r.reply(t).Note, "Tell a person")
	require.False(t, r.reply(t).AlreadySent)
	again := server.call("reply_to_customer", replyTo(crashTicket, crashText))
	require.True(t, again.reply(t).AlreadySent)
	require.Equal(t, []string{"rpl_001"}, s.kitebase.emailsTo(crashTicket))
	requireReads(t, server)
}

// requirePrivate shows that nobody else can read what is in dir.
func requirePrivate(t *testing.T, dir string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("files have no modes here")
	}
	require.NoError(t, filepath.WalkDir(dir, func(path string, file fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := file.Info()
		require.NoError(t, err)
		want := os.FileMode(0o600)
		if file.IsDir() {
			want = 0o700
		}
		require.Equal(t, want, info.Mode().Perm(), path)
		return nil
	}))
}

// used makes a ledger in which one reply is recorded, and returns the bytes of the file.
func (s *scene) used(t *testing.T) []byte {
	t.Helper()
	server := s.serve(t)
	server.call("reply_to_customer", replyTo("KITE-101", "Hello")).reply(t)
	server.end()
	content, err := os.ReadFile(s.ledger)
	require.NoError(t, err)
	return content
}

// keeps shows that the bytes are still in the ledger or were kept beside it.
func (s *scene) keeps(t *testing.T, content []byte) {
	t.Helper()
	kept, err := filepath.Glob(s.ledger + ".bad-*")
	require.NoError(t, err)
	for _, path := range append(kept, s.ledger) {
		if found, err := os.ReadFile(path); err == nil && string(found) == string(content) {
			return
		}
	}
	require.Fail(t, "the bad file is gone", "beside %s are %v", s.ledger, kept)
}
