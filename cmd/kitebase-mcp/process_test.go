package main_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/fakeapi"
)

// closedPort returns the URL of a Kitebase that does not answer.
func closedPort(t *testing.T) string {
	t.Helper()
	return "http://" + occupiedOnce(t)
}

// occupiedOnce returns an address that was free a moment ago. Its port is below those that systems give out by themselves, of
// which a test that runs at the same time could get it.
func occupiedOnce(t *testing.T) string {
	t.Helper()
	for range 100 {
		listener, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", 20_000+rand.IntN(10_000)))
		if err == nil {
			require.NoError(t, listener.Close())
			return listener.Addr().String()
		}
	}
	require.Fail(t, "no port is free")
	return ""
}

// toolNames lists the tools that the server offers.
func toolNames(t *testing.T, c *child) []string {
	t.Helper()
	var listed struct {
		Tools []struct {
			Name string `json:"name"`
		} `json:"tools"`
	}
	require.NoError(t, json.Unmarshal(c.ask("tools/list", "{}"), &listed))
	names := []string{}
	for _, tool := range listed.Tools {
		names = append(names, tool.Name)
	}
	return names
}

// allTools are the five, in the order of tools/list.
func allTools() []string {
	return []string{"assign_ticket", "get_ticket", "reply_to_customer", "search_help", "search_tickets"}
}

// TestBareStart: hosts start servers by absolute path, in a directory of their own, with next to no environment.
func TestBareStart(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{"embedded fake": nil, "Kitebase does not answer": {"--url", closedPort(t)}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := start{args: args, dir: "/"}.serve(t)
			require.Equal(t, allTools(), toolNames(t, server))
		})
	}
}

// TestEmbeddedFakeIsSaid: who forgot the URL must find out, but not be told again and again.
func TestEmbeddedFakeIsSaid(t *testing.T) {
	t.Parallel()
	server := start{}.serve(t)
	require.Equal(t, "rpl_001", server.call("reply_to_customer", updateReply).reply(t).ReplyID)
	server.end()
	require.Equal(t, 1, strings.Count(server.stderr.String(), "embedded fake"), server.stderr.String())

	real := start{args: []string{"--url", closedPort(t), "--ledger=memory"}}.serve(t)
	toolNames(t, real)
	real.end()
	require.Empty(t, real.stderr.String())
}

// TestNoConnection: nothing listens. Nothing can have happened, and the texts say so.
func TestNoConnection(t *testing.T) {
	t.Parallel()
	server := start{args: []string{"--url", closedPort(t), "--retry-budget=-1"}}.serve(t)
	schemas := outputSchemas(t, server)
	for tool, arguments := range map[string]string{
		"search_help":       `{"query":"sso"}`,
		"get_ticket":        `{"ticket_id":"KITE-142"}`,
		"search_tickets":    `{"query":"sso"}`,
		"assign_ticket":     `{"ticket_id":"KITE-142","assignee":"priya"}`,
		"reply_to_customer": updateReply,
	} {
		t.Run(tool, func(t *testing.T) {
			r := server.call(tool, arguments)
			schemas.check(t, tool, r)
			require.Equal(t, "unavailable", r.kind(), r.text())
			require.Equal(t, 2, r.attempts(t))
			require.Equal(t, "not_done", r.Meta.Error.Outcome)
			require.NotContains(t, r.text(), "may have gone through")
		})
	}
}

// TestDebugLog: one line of log on stdout, and a host drops the connection. child checks every line; here is much to log.
func TestDebugLog(t *testing.T) {
	t.Parallel()
	kitebase := startUpstream(t, fakeapi.Config{Token: "tok-secret-1"})
	kitebase.fault(t, "get_ticket=garble:1")
	kitebase.fault(t, "search_help=redirect")
	server := start{args: []string{"--url", kitebase.url, "--log-level=debug", "--token=tok-secret-1"}}.serve(t)
	server.write("not json\n")
	server.await("null")
	server.call("get_ticket", `{"ticket_id":"KITE-142"}`)
	server.call("search_help", `{"query":"sso"}`)
	server.call("reply_to_customer", updateReply)
	server.call("reply_to_customer", `{}`)
	server.end()
	log := server.stderr.String()
	for _, level := range []string{"DEBUG", "INFO", "WARN"} {
		require.Contains(t, log, `"level":"`+level+`"`)
	}
	require.NotContains(t, log, "tok-secret-1")
}

// TestSignals: hosts end a session by SIGINT, then SIGTERM, and report any exit code but 0 as a crash.
func TestSignals(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(signal.String()+", idle", func(t *testing.T) {
			t.Parallel()
			server := start{}.serve(t)
			server.ask("ping", "{}")
			require.NoError(t, server.cmd.Process.Signal(signal))
			server.wait()
		})
		t.Run(signal.String()+", in the middle of a read", func(t *testing.T) {
			t.Parallel()
			kitebase := startUpstream(t, fakeapi.Config{})
			kitebase.fault(t, "get_ticket=hang")
			server := start{args: []string{"--url", kitebase.url, "--attempt-timeout=1h", "--call-deadline=1h"}}.serve(t)
			server.send("get_ticket", `{"ticket_id":"KITE-142"}`)
			kitebase.arrived(1)
			require.NoError(t, server.cmd.Process.Signal(signal))
			server.wait() // not for the hour
		})
		t.Run(signal.String()+", in the middle of a reply", func(t *testing.T) {
			t.Parallel()
			kitebase := startUpstream(t, fakeapi.Config{})
			kitebase.fault(t, "reply_to_customer=slow=300ms:1")
			server := start{args: []string{"--url", kitebase.url}}.serve(t)
			id := server.send("reply_to_customer", updateReply)
			kitebase.arrived(1)
			require.NoError(t, server.cmd.Process.Signal(signal))
			require.Equal(t, "rpl_001", server.await(id).result(t).reply(t).ReplyID)
			server.wait()
		})
	}
}

// TestPipedSession: cat session | kitebase-mcp. mcp-go's own loop answered 215 of 250 calls at the end of the input.
func TestPipedSession(t *testing.T) {
	t.Parallel()
	kitebase := startUpstream(t, fakeapi.Config{})
	kitebase.fault(t, "get_ticket=slow=300ms")
	var calls []string
	for i := range 10 {
		calls = append(calls, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"get_ticket","arguments":{"ticket_id":"KITE-142"}}}`, i))
	}
	end := start{args: []string{"--url", kitebase.url}}.run(t, strings.Join(calls, "\n"))
	require.Zero(t, end.code, end.stderr)
	seen := map[string]bool{}
	for line := range strings.Lines(end.stdout) {
		a := readAnswer(line)
		require.Empty(t, a.broken)
		require.False(t, a.result(t).IsError)
		seen[string(a.ID)] = true
	}
	require.Len(t, seen, 10)
}

// TestEndOfInput: no word said, no harm done.
func TestEndOfInput(t *testing.T) {
	t.Parallel()
	for name, input := range map[string]string{"nothing": "", "a blank line": "\n", "half a message": `{"jsonrpc":"2.0","id":1,`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Zero(t, start{}.run(t, input).code)
		})
	}
}
