package main_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDisconnect: a client leaves while its reply is under way, connects again, and asks for the same. Each of these
// leaves before Kitebase begins to work on the reply, and returns what the repeat was told; Kitebase then takes long enough
// for the server to notice.
func TestDisconnect(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(*testing.T, *held) result{
		"stdio, input closed":        leaveByEndOfInput,
		"stdio, client killed":       leaveByDeath,
		"streamable HTTP 2025-11-25": leaveStreamable(handshakeRevision),
		"streamable HTTP 2026-07-28": leaveStreamable(statelessRevision),
		"SSE":                        leaveStream,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kitebase := startHeld(t)
			kitebase.fault(t, "reply_to_customer=slow=300ms:1")
			again := leave(t, kitebase)
			require.Equal(t, "rpl_001", again.reply(t).ReplyID)
			require.True(t, again.reply(t).AlreadySent)
			kitebase.settle()
			require.Equal(t, []string{"rpl_001"}, kitebase.emailsTo("KITE-142"))
			require.Equal(t, 1, kitebase.requestsOf("reply_to_customer", 0), "the repeat was not even asked for")
		})
	}
}

// withLedger is a server on a ledger that outlives it.
func withLedger(t *testing.T, kitebase *held) start {
	return start{args: append(patient(kitebase.url), "--ledger", filepath.Join(t.TempDir(), "ledger.db"))}
}

func leaveByEndOfInput(t *testing.T, kitebase *held) result {
	host := withLedger(t, kitebase)
	first := host.serve(t)
	first.send("reply_to_customer", updateReply)
	kitebase.arrived(1)
	require.NoError(t, first.stdin.Close())
	kitebase.release()
	return host.serve(t).call("reply_to_customer", updateReply)
}

// leaveByDeath closes both pipes, as the system does when a client is killed.
func leaveByDeath(t *testing.T, kitebase *held) result {
	host := withLedger(t, kitebase)
	first := host.command(t)
	stdin, err := first.StdinPipe()
	require.NoError(t, err)
	stdout, err := first.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, first.Start())
	_, err = stdin.Write([]byte(toolCall("reply_to_customer", updateReply) + "\n"))
	require.NoError(t, err)
	kitebase.arrived(1)
	require.NoError(t, stdin.Close())
	require.NoError(t, stdout.Close())
	kitebase.release()
	again := host.serve(t).call("reply_to_customer", updateReply)
	_ = first.Wait() // what matters of its end is below: an answer that could not be written is an error
	require.Equal(t, 1, first.ProcessState.ExitCode(), "it ended, and not by the watchdog or SIGPIPE")
	return again
}

func leaveStreamable(revision string) func(*testing.T, *held) result {
	return func(t *testing.T, kitebase *held) result {
		s := startSite(t, kitebase.url)
		ctx, leave := context.WithCancel(t.Context())
		first := s.later(s.call(revision, "reply_to_customer", updateReply).WithContext(ctx))
		kitebase.arrived(1)
		leave()
		require.Zero(t, (<-first).status)
		kitebase.release()
		return s.send(t, s.call(revision, "reply_to_customer", updateReply)).result(t)
	}
}

func leaveStream(t *testing.T, kitebase *held) result {
	s := startSite(t, kitebase.url)
	first := s.openStream()
	first.post(toolCall("reply_to_customer", updateReply))
	kitebase.arrived(1)
	first.leave()
	require.Empty(t, first.next())
	kitebase.release()
	second := s.openStream()
	second.post(toolCall("reply_to_customer", updateReply))
	return second.result()
}
