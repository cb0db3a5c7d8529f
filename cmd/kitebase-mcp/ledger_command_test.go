package main_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLedgerCommands look at the ledger of a server that is running, and change it.
func TestLedgerCommands(t *testing.T) {
	t.Parallel()
	s := newScene(t, false)
	server := s.serve(t, "--settle-after=1h")
	server.call("reply_to_customer", replyTo("KITE-101", "Done."))
	server.call("assign_ticket", `{"ticket_id":"KITE-102","assignee":"priya"}`)
	s.kitebase.fault(t, "reply_to_customer=drop:1")
	server.call("reply_to_customer", replyTo("KITE-103", "Unknown."))

	t.Run("list", func(t *testing.T) {
		table := s.command(t, "list")
		require.Zero(t, table.code)
		lines := strings.Split(strings.TrimSpace(table.stdout), "\n")
		require.Len(t, lines, 4)
		require.Regexp(t, `^KEY +TICKET +TOOL +STATE`, lines[0])
		require.Regexp(t, `^[0-9a-f]{16} +KITE-103 +reply_to_customer +unknown +1 `, lines[1], "the newest first")
		require.Regexp(t, `^- +KITE-102 +assign_ticket +done +1 `, lines[2])
		require.Regexp(t, `^[0-9a-f]{16} +KITE-101 +reply_to_customer +done +1 `, lines[3])
	})
	t.Run("list by", func(t *testing.T) { listBy(t, s) })
	t.Run("list is not asked for nonsense", func(t *testing.T) {
		require.Equal(t, 2, s.command(t, "list", "--state=sent").code)
	})
	t.Run("show", func(t *testing.T) {
		key := s.list(t, "--ticket=KITE-101")[0].Key
		shown := s.command(t, "show", key)
		require.Zero(t, shown.code, shown.stderr)
		var records []entry
		require.NoError(t, json.Unmarshal([]byte(shown.stdout), &records))
		require.Len(t, records, 1)
		require.Equal(t, key, records[0].Key)
		require.Contains(t, string(records[0].Result), "rpl_001")

		unknown := s.command(t, "show", "0000000000000000")
		require.Equal(t, 1, unknown.code)
		require.Contains(t, unknown.stderr, "no record")
	})
	t.Run("forget", func(t *testing.T) { forget(t, s, server) })
}

// listBy filters the list of three records.
func listBy(t *testing.T, s *scene) {
	for name, test := range map[string]struct {
		filters []string
		want    []string
	}{
		"all":                 {nil, []string{"KITE-103", "KITE-102", "KITE-101"}},
		"ticket":              {[]string{"--ticket=kite-101"}, []string{"KITE-101"}},
		"state":               {[]string{"--state=unknown"}, []string{"KITE-103"}},
		"states":              {[]string{"--state=unknown,done"}, []string{"KITE-103", "KITE-102", "KITE-101"}},
		"ticket and state":    {[]string{"--ticket=KITE-101", "--state=unknown"}, []string{}},
		"young":               {[]string{"--since=1h"}, []string{"KITE-103", "KITE-102", "KITE-101"}},
		"old":                 {[]string{"--older=1h"}, []string{}},
		"limit":               {[]string{"--limit=1"}, []string{"KITE-103"}},
		"of this Kitebase":    {[]string{"--url=" + s.kitebase.url}, []string{"KITE-103", "KITE-102", "KITE-101"}},
		"of another Kitebase": {[]string{"--url=http://127.0.0.1:1"}, []string{}},
		"of another account":  {[]string{"--url=" + s.kitebase.url, "--account=eu"}, []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tickets := []string{}
			for _, record := range s.list(t, test.filters...) {
				tickets = append(tickets, record.Ticket)
			}
			require.Equal(t, test.want, tickets)
		})
	}
}

// forget removes records under a running server, which then sends the same reply again.
func forget(t *testing.T, s *scene, server *child) {
	t.Run("what is done", func(t *testing.T) {
		key := s.list(t, "--ticket=KITE-101")[0].Key
		require.True(t, server.call("reply_to_customer", replyTo("KITE-101", "Done.")).reply(t).AlreadySent)
		forgotten := s.command(t, "forget", key)
		require.Zero(t, forgotten.code, forgotten.stderr)
		require.Contains(t, forgotten.stdout, key)
		require.False(t, server.call("reply_to_customer", replyTo("KITE-101", "Done.")).reply(t).AlreadySent)
		require.Len(t, s.kitebase.emailsTo("KITE-101"), 2)
	})
	t.Run("what is unknown", func(t *testing.T) {
		key := s.list(t, "--ticket=KITE-103")[0].Key
		refused := s.command(t, "forget", key)
		require.Equal(t, 1, refused.code)
		require.Contains(t, refused.stderr, "--force")
		require.Equal(t, "held", server.call("reply_to_customer", replyTo("KITE-103", "Unknown.")).kind())
		require.Zero(t, s.command(t, "forget", "--force", key).code)
		require.False(t, server.call("reply_to_customer", replyTo("KITE-103", "Unknown.")).reply(t).AlreadySent)
		require.Len(t, s.kitebase.emailsTo("KITE-103"), 1)
	})
	t.Run("nothing", func(t *testing.T) {
		require.Equal(t, 1, s.command(t, "forget", "0000000000000000").code)
	})
}

// TestForgottenReplyWithKeys: Kitebase has not forgotten. Nothing goes out, and the answer says so.
func TestForgottenReplyWithKeys(t *testing.T) {
	t.Parallel()
	s := newScene(t, true)
	server := s.serve(t)
	server.call("reply_to_customer", updateReply)
	require.Zero(t, s.command(t, "forget", s.only(t).Key).code)
	again := server.call("reply_to_customer", updateReply).reply(t)
	require.True(t, again.AlreadySent)
	require.Equal(t, "rpl_001", again.ReplyID)
	require.Len(t, s.kitebase.Outbox(), 1)
}

// TestLedgerHoldsNoText: what was written to a customer is nobody's business who finds the file.
func TestLedgerHoldsNoText(t *testing.T) {
	t.Parallel()
	s := newScene(t, false)
	const secret = "Xylophone-7731"
	server := s.serve(t, "--settle-after=1h")
	server.call("reply_to_customer", replyTo("KITE-101", secret+" done")).reply(t)
	s.kitebase.fault(t, "reply_to_customer=drop:1")
	require.Equal(t, "unknown", server.call("reply_to_customer", replyTo("KITE-102", secret+" unknown")).Meta.Error.Outcome)
	s.kitebase.fault(t, "reply_to_customer=status=503:1")
	server.call("reply_to_customer", replyTo("KITE-103", secret+" failed"))
	require.Equal(t, "held", server.call("reply_to_customer", replyTo("KITE-102", secret+" reworded")).kind())

	search := func(when string) {
		files := 0
		require.NoError(t, filepath.WalkDir(filepath.Dir(s.ledger), func(path string, file os.DirEntry, err error) error {
			if err != nil || file.IsDir() {
				return err
			}
			content, err := os.ReadFile(path)
			require.False(t, bytes.Contains(content, []byte("Xylophone")), "%s, in %s", when, path)
			files++
			return err
		}))
		require.Positive(t, files)
	}
	require.FileExists(t, s.ledger+"-wal")
	search("while the server runs")
	server.end()
	search("after its end")
	require.Contains(t, string(s.list(t, "--state=done")[0].Result), "rpl_001", "the ledger that was searched is the one in use")
}

// A wrong path was answered with "nothing" and a new, empty ledger.
func TestLedgerThatIsNotThere(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "typo.db")
	for _, command := range []string{"list", "show 9edb4ee9f524df95", "forget 9edb4ee9f524df95", "settle --url=http://127.0.0.1:1"} {
		end := start{args: append(strings.Fields("ledger "+command), "--ledger", path)}.run(t, "")
		require.Equal(t, 1, end.code, command)
		require.Contains(t, end.stderr, "there is no ledger at "+path)
		require.NoFileExists(t, path)
	}
}
