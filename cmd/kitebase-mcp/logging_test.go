package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/fakeapi"
)

// recordsOf reads a log, each line of which must be one JSON object.
func recordsOf(t *testing.T, log string) []map[string]any {
	t.Helper()
	var records []map[string]any
	for line := range strings.Lines(log) {
		var record map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &record), line)
		records = append(records, record)
	}
	return records
}

// TestLogJoinsACall: whoever has one line of a call finds all of them, and reads in them what was done, never what was said.
func TestLogJoinsACall(t *testing.T) {
	t.Parallel()
	const secret = "Xylophone-7731"
	kitebase := startUpstream(t, fakeapi.Config{})
	kitebase.fault(t, "reply_to_customer=lose:1")
	server := start{args: []string{"--url", kitebase.url, "--log-level=debug"}}.serve(t)
	server.call("reply_to_customer", replyTo("KITE-142", secret))
	server.call("reply_to_customer", replyTo("KITE-142", secret+" again"))
	server.call("reply_to_customer", replyTo(secret, secret))
	server.call("search_help", `{"query":"`+secret+`"}`)
	server.end()
	require.NotContains(t, server.stderr.String(), "Xylophone")

	var id any
	var of []string
	for _, record := range recordsOf(t, server.stderr.String()) {
		require.NotEmpty(t, record["time"])
		if record["call"] == nil {
			continue
		}
		if id == nil {
			id = record["call"]
		}
		if record["call"] == id {
			of = append(of, strings.Split(record["msg"].(string), ":")[0])
		}
	}
	require.Equal(t, []string{"call began", "attempt ended", "attempt 1", "attempt ended", "call", "audit"}, of)
}

// TestLogFormat: JSON for whatever reads a pipe, text for who asks for it.
func TestLogFormat(t *testing.T) {
	t.Parallel()
	for format, begins := range map[string]string{"auto": `{"time":"`, "json": `{"time":"`, "text": "time="} {
		server := start{env: []string{"KITEBASE_LOG_FORMAT=" + format}}.serve(t)
		server.call("get_ticket", ticket142)
		server.end()
		require.Equal(t, 2, strings.Count(server.stderr.String(), "\n"), server.stderr.String())
		for line := range strings.Lines(server.stderr.String()) {
			require.True(t, strings.HasPrefix(line, begins), line)
		}
	}
}

// TestAuditWhateverTheLevel: the line of a write is there when nothing else is, and says who the client says it is.
func TestAuditWhateverTheLevel(t *testing.T) {
	t.Parallel()
	kitebase := startUpstream(t, fakeapi.Config{})
	server := start{args: []string{"--url", kitebase.url, "--ledger=memory", "--log-level=error", "--log-format=text"}}.serve(t)
	server.ask("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"claude\u001b[31m-code\n","version":"2"}}`)
	server.call("get_ticket", ticket142)
	server.call("assign_ticket", `{"ticket_id":"KITE-142","assignee":"priya"}`)
	server.end()
	require.Regexp(t, `^time=\S+ level=INFO msg=audit event=call call=\S+ who="local \(claude\[31m-code\)" tool=assign_ticket ticket=KITE-142 `+
		`outcome=done assignee=priya attempts=1\n$`, server.stderr.String())
}

// TestAuditOverHTTP: the same line on the other transports.
func TestAuditOverHTTP(t *testing.T) {
	t.Parallel()
	kitebase, dir := startUpstream(t, fakeapi.Config{}), t.TempDir()
	file, tokens := filepath.Join(dir, "audit.jsonl"), filepath.Join(dir, "tokens.json")
	priya := makeToken(t, tokens, "priya")
	site := start{args: append(patient(kitebase.url), "--audit-log", file, "--http-tokens", tokens)}.site(t)
	site.send(t, site.call(statelessRevision, "reply_to_customer", updateReply))
	site.send(t, by(site.call(statelessRevision, "reply_to_customer", updateReply), priya))
	stream := site.openStream()
	stream.post(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`)
	stream.next()
	stream.post(toolCall("reply_to_customer", updateReply))
	stream.result()
	var told [][]any
	for _, line := range auditLines(t, file) {
		told = append(told, []any{line["who"], line["outcome"], line["reply_id"]})
	}
	require.Equal(t, [][]any{{"token:token", "done", "rpl_001"}, {"token:priya", "replayed", "rpl_001"}, {"token:token", "replayed", "rpl_001"}}, told)
}

func auditLines(t *testing.T, file string) []map[string]any {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	return recordsOf(t, string(text))
}

// TestAuditFile: it is for its owner, survives rotation and restarts, and takes what is done by hand.
func TestAuditFile(t *testing.T) {
	t.Parallel()
	s := newScene(t, false)
	dir := t.TempDir()
	file, old := filepath.Join(dir, "audit.jsonl"), filepath.Join(dir, "audit.jsonl.1")
	server := s.serve(t, "--audit-log", file, "--settle-after=1h")
	server.call("reply_to_customer", updateReply)
	require.NoError(t, os.Rename(file, old))
	s.kitebase.fault(t, "reply_to_customer=lose:1")
	s.kitebase.fault(t, "get_ticket=status=503")
	server.call("reply_to_customer", replyTo("KITE-143", "Any update?"))
	s.kitebase.ClearFaults()
	require.Len(t, auditLines(t, old), 1)
	server.end()
	require.NotContains(t, server.stderr.String(), `"msg":"audit"`, "one place is enough")

	settled := s.command(t, "settle", "--url", s.kitebase.url, "--audit-log", file)
	require.Zero(t, settled.code, settled.stderr)
	key := s.list(t, "--ticket=KITE-143")[0].Key
	require.Zero(t, s.command(t, "forget", key, "--audit-log", file).code)

	lines := auditLines(t, file)
	require.Len(t, lines, 3)
	var seen []string
	for _, line := range lines {
		who, _, _ := strings.Cut(line["who"].(string), " (")
		seen = append(seen, strings.Join([]string{line["event"].(string), who, line["ticket"].(string), line["outcome"].(string)}, " "))
		require.Equal(t, key, line["key"])
		require.NotContains(t, line, "level")
	}
	require.Equal(t, []string{"call local KITE-143 unknown", "settled command line KITE-143 done", "forgotten command line KITE-143 done"}, seen)
	info, err := os.Stat(file)
	require.NoError(t, err)
	if runtime.GOOS != "windows" {
		require.Equal(t, os.FileMode(0o600), info.Mode())
	}
}

// TestAuditFileFails: at the start it is a wrong setting; later it is logged, and the reply goes out.
func TestAuditFileFails(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "logs")
	refused := start{args: []string{"--audit-log", filepath.Join(dir, "audit.jsonl")}}.run(t, "")
	require.Equal(t, 2, refused.code)
	require.Regexp(t, `^kitebase-mcp: --audit-log \(KITEBASE_AUDIT_LOG\) takes a file that can be written: .*no such file or directory\n$`, refused.stderr)

	require.NoError(t, os.Mkdir(dir, 0o755))
	kitebase := startUpstream(t, fakeapi.Config{})
	server := start{args: []string{"--url", kitebase.url, "--ledger=memory", "--audit-log", filepath.Join(dir, "audit.jsonl")}}.serve(t)
	server.ask("ping", "{}") // it has started
	require.NoError(t, os.RemoveAll(dir))
	require.Equal(t, "rpl_001", server.call("reply_to_customer", updateReply).reply(t).ReplyID)
	server.end()
	require.Contains(t, server.stderr.String(), "an audit line could not be written")
}
