package main_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/fakeapi"
)

// TestSharedDatabase: what shares a database shares the records of one Kitebase and account, and no others.
func TestSharedDatabase(t *testing.T) {
	t.Parallel()
	say := func(t *testing.T, args ...string) sent {
		t.Helper()
		args = append(args, "--upstream-keys=false")
		return start{args: args}.serve(t).call("reply_to_customer", replyTo(crashTicket, crashText)).reply(t)
	}
	t.Run("one Kitebase, written differently", func(t *testing.T) {
		t.Parallel()
		ledger, kitebase := freshPostgres(t), startUpstream(t, fakeapi.Config{IgnoreKeys: true})
		require.False(t, say(t, "--url", kitebase.url, "--ledger", ledger).AlreadySent)
		for _, url := range []string{kitebase.url + "/", strings.Replace(kitebase.url, "http:", "HTTP:", 1)} {
			require.True(t, say(t, "--url", url, "--ledger", ledger).AlreadySent, url)
		}
		require.True(t, say(t, "--url", kitebase.url, "--ledger", ledger+"&application_name=other").AlreadySent)
		require.Len(t, kitebase.Outbox(), 1)
	})
	t.Run("two Kitebases", func(t *testing.T) {
		t.Parallel()
		ledger := freshPostgres(t)
		for range 2 {
			kitebase := startUpstream(t, fakeapi.Config{IgnoreKeys: true})
			require.False(t, say(t, "--url", kitebase.url, "--ledger", ledger).AlreadySent)
			require.True(t, say(t, "--url", kitebase.url, "--ledger", ledger).AlreadySent)
		}
	})
	t.Run("two accounts", func(t *testing.T) {
		t.Parallel()
		ledger, kitebase := freshPostgres(t), startUpstream(t, fakeapi.Config{IgnoreKeys: true})
		for _, account := range []string{"north", "south"} {
			require.False(t, say(t, "--url", kitebase.url, "--ledger", ledger, "--account", account).AlreadySent)
			require.True(t, say(t, "--url", kitebase.url, "--ledger", ledger, "--account", account).AlreadySent)
		}
	})
}

// TestServersOnDifferentLedgers: one remembers in PostgreSQL, the other in a file, by mistake. A Kitebase that honours keys
// still sends one email, and both say so.
func TestServersOnDifferentLedgers(t *testing.T) {
	t.Parallel()
	shared := freshPostgres(t)
	inFile := newScene(t, true)
	inDatabase := &scene{inFile.kitebase, shared, true}
	require.False(t, inDatabase.answer(t, inDatabase.serve(t), crashTicket, crashText).AlreadySent)
	require.True(t, inFile.answer(t, inFile.serve(t), crashTicket, crashText).AlreadySent)
	require.True(t, inDatabase.answer(t, inDatabase.serve(t), crashTicket, crashText).AlreadySent)
	require.Len(t, inFile.kitebase.Outbox(), 1)
}
