package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/kitebase/kitebase-mcp/fakeapi"
	"github.com/kitebase/kitebase-mcp/server"
	"github.com/kitebase/kitebase-mcp/server/resilience"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// desk is the whole product in one synctest bubble: the server on one side, the fake Kitebase on the other, in-memory pipes
// between them, so that time is exact.
type desk struct {
	*fakeapi.Fake
	session
}

// session is one server process and its client.
type session struct {
	t      *testing.T
	lines  io.WriteCloser
	answer map[float64]chan answer
	mu     sync.Mutex
	next   float64
}

// answer is the result of one call as it came over the wire.
type answer struct {
	IsError      bool            `json:"isError"`
	Structured   json.RawMessage `json:"structuredContent"`
	Content      []struct{ Text string }
	Meta         meta `json:"_meta"`
	JSONRPCError json.RawMessage
}

type meta struct {
	Attempts   *int                  `json:"io.kitebase/attempts"`
	Replayed   bool                  `json:"io.kitebase/replayed"`
	RepeatedBy string                `json:"io.kitebase/repeated_by"`
	Error      *resilience.ErrorInfo `json:"io.kitebase/error"`
}

func (a answer) text() string { return a.Content[0].Text }

// open starts both sides; they end with the test.
func open(t *testing.T, config server.Config, fakeConfig fakeapi.Config) *desk {
	t.Helper()
	fake, listener := kitebase(t, fakeConfig)
	d := &desk{Fake: fake}
	d.session.start(t, config, listener)
	return d
}

func kitebase(t *testing.T, config fakeapi.Config) (*fakeapi.Fake, *pipeListener) {
	t.Helper()
	fake, err := fakeapi.New(config)
	require.NoError(t, err)
	listener := serveUpstream(t, fake)
	t.Cleanup(fake.Close)
	return fake, listener
}

// serveUpstream serves handler as Kitebase until the test ends.
func serveUpstream(t *testing.T, handler http.Handler) *pipeListener {
	t.Helper()
	listener := newPipeListener()
	upstream := &http.Server{Handler: handler}
	go func() { _ = upstream.Serve(listener) }()
	t.Cleanup(func() { upstream.Close() })
	return listener
}

// start starts a server, which ends with the test.
func (s *session) start(t *testing.T, config server.Config, listener *pipeListener) {
	t.Helper()
	config.URL, config.DialContext = "http://kitebase.test", listener.dial
	srv, err := server.New(config)
	require.NoError(t, err)
	in, lines := io.Pipe()
	out, results := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- srv.ServeStdio(context.Background(), in, results); results.Close() }()

	s.t, s.lines, s.answer = t, lines, make(map[float64]chan answer)
	read := make(chan struct{})
	go func() { defer close(read); s.read(out) }()
	t.Cleanup(func() {
		lines.Close()
		require.NoError(t, <-served)
		<-read
		srv.Close()
	})
	s.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"0"}}}`)
	s.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

func (s *session) send(line string) {
	_, err := io.WriteString(s.lines, line+"\n")
	require.NoError(s.t, err)
}

func (s *session) read(out io.Reader) {
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var message struct {
			ID     float64
			Result json.RawMessage
			Error  json.RawMessage
		}
		if json.Unmarshal(lines.Bytes(), &message) != nil {
			panic("not JSON-RPC: " + lines.Text())
		}
		s.mu.Lock()
		waiting := s.answer[message.ID]
		s.mu.Unlock()
		if waiting == nil {
			continue
		}
		got := answer{JSONRPCError: message.Error}
		_ = json.Unmarshal(message.Result, &got)
		waiting <- got
	}
}

// begin makes a call; the channel gives its answer.
func (s *session) begin(tool string, arguments map[string]any) <-chan answer {
	return s.beginWith(tool, arguments, nil)
}

func (s *session) beginWith(tool string, arguments, meta map[string]any) <-chan answer {
	s.mu.Lock()
	s.next++
	id, waiting := s.next, make(chan answer, 1)
	s.answer[id] = waiting
	s.mu.Unlock()
	params := map[string]any{"name": tool, "arguments": arguments}
	if meta != nil {
		params["_meta"] = meta
	}
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
	require.NoError(s.t, err)
	s.send(string(line))
	return waiting
}

// call makes a call and waits for its answer, which is never a protocol error.
func (s *session) call(tool string, arguments map[string]any) answer {
	s.t.Helper()
	got := <-s.begin(tool, arguments)
	require.Nil(s.t, got.JSONRPCError, "%s", got.JSONRPCError)
	return got
}

func (s *session) reply(message string) answer {
	return s.call("reply_to_customer", map[string]any{"ticket_id": "KITE-142", "message": message})
}

func (d *desk) requests(operation string) int {
	n := 0
	for _, request := range d.Requests() {
		if request.Operation == operation {
			n++
		}
	}
	return n
}

func TestTheWholeStack(t *testing.T) {
	run := func(name string, config server.Config, fakeConfig fakeapi.Config, test func(t *testing.T, d *desk)) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, open(t, config, fakeConfig)) })
		})
	}
	fault := func(t *testing.T, d *desk, spec string) {
		operation, fault, err := fakeapi.ParseFault(spec)
		require.NoError(t, err)
		require.NoError(t, d.SetFault(operation, fault))
	}

	run("a reply whose answer is lost goes out once and is told as sent", server.Config{}, fakeapi.Config{}, func(t *testing.T, d *desk) {
		fault(t, d, "reply_to_customer=lose:1")
		got := d.reply("We are on it.")
		require.False(t, got.IsError, got.Content)
		require.JSONEq(t, `"rpl_001"`, field(got, "reply_id"))
		require.Equal(t, 2, *got.Meta.Attempts)
		require.Len(t, d.Outbox(), 1)
	})
	run("one whose answers hang is settled by reading, in the same call", server.Config{}, fakeapi.Config{}, func(t *testing.T, d *desk) {
		fault(t, d, "reply_to_customer=hang")
		began := time.Now()
		got := d.reply("We are on it.")
		require.False(t, got.IsError, got.Content)
		require.Contains(t, got.text(), "The answer was lost")
		require.Len(t, d.Outbox(), 1)
		require.Less(t, time.Since(began), 25*time.Second)
		require.Equal(t, d.requests("reply_to_customer"), *got.Meta.Attempts)
	})
	run("so is one at a Kitebase without keys, which is never asked twice", server.Config{IgnoresKeys: true}, fakeapi.Config{IgnoreKeys: true},
		func(t *testing.T, d *desk) {
			fault(t, d, "reply_to_customer=lose:1")
			got := d.reply("We are on it.")
			require.False(t, got.IsError, got.Content)
			require.Equal(t, 1, *got.Meta.Attempts)
			require.Len(t, d.Outbox(), 1)
		})
	run("without dedupe nothing is settled and the text says so", server.Config{IgnoresKeys: true, NoDedupe: true}, fakeapi.Config{IgnoreKeys: true},
		func(t *testing.T, d *desk) {
			fault(t, d, "reply_to_customer=lose:1")
			got := d.reply("We are on it.")
			require.Equal(t, "Error: reply_to_customer failed after 1 try: connection reset by Kitebase (KitebaseUnavailable). "+
				"Kitebase may be slow or down. The change may have gone through anyway, so check before you repeat it.", got.text())
			require.False(t, d.reply("We are on it.").IsError)
			require.Len(t, d.Outbox(), 2, "why there are keys and a ledger")
		})
	run("a reply that lands late is not called unsent before the horizon, and never sent twice", server.Config{IgnoresKeys: true}, fakeapi.Config{IgnoreKeys: true},
		func(t *testing.T, d *desk) {
			fault(t, d, "reply_to_customer=slow=20s:1")
			require.Equal(t, "unknown", d.reply("We are on it.").Meta.Error.Outcome)
			held := d.reply("We are on it.")
			require.Equal(t, resilience.Held, held.Meta.Error.Kind, held.text())
			time.Sleep(20 * time.Second)
			settled := d.reply("We are on it.")
			require.False(t, settled.IsError, settled.Content)
			require.True(t, settled.Meta.Replayed)
			require.Len(t, d.Outbox(), 1)
		})
	run("one that never landed is sent after the horizon", server.Config{IgnoresKeys: true}, fakeapi.Config{IgnoreKeys: true},
		func(t *testing.T, d *desk) {
			fault(t, d, "reply_to_customer=drop:1")
			require.Equal(t, "unknown", d.reply("We are on it.").Meta.Error.Outcome)
			require.Empty(t, d.Outbox())
			time.Sleep(30 * time.Second)
			require.False(t, d.reply("We are on it.").IsError)
			require.Len(t, d.Outbox(), 1)
		})
	run("the same text is a repeat until the customer writes", server.Config{}, fakeapi.Config{}, func(t *testing.T, d *desk) {
		require.False(t, d.reply("Any update?").Meta.Replayed)
		time.Sleep(time.Minute)
		again := d.reply("Any update?")
		require.True(t, again.Meta.Replayed)
		require.Equal(t, "true", field(again, "already_sent"))
		require.NoError(t, d.CustomerWrites("KITE-142", "Still locked out."))
		require.False(t, d.reply("Any update?").Meta.Replayed)
		require.Len(t, d.Outbox(), 2)
		require.NotEqual(t, d.Outbox()[0].IdempotencyKey, d.Outbox()[1].IdempotencyKey)
		require.True(t, d.reply("Any update?").Meta.Replayed)
	})
	run("fifty identical replies at once are one email", server.Config{}, fakeapi.Config{}, func(t *testing.T, d *desk) {
		fault(t, d, "reply_to_customer=slow=1s")
		var all []<-chan answer
		for range 50 {
			all = append(all, d.begin("reply_to_customer", map[string]any{"ticket_id": "KITE-142", "message": "x"}))
		}
		repeats := 0
		for _, waiting := range all {
			got := <-waiting
			require.JSONEq(t, `"rpl_001"`, field(got, "reply_id"))
			if got.Meta.Replayed {
				repeats++
			}
		}
		require.Equal(t, 49, repeats)
		require.Len(t, d.Outbox(), 1)
		require.Equal(t, 1, d.requests("reply_to_customer"))
	})
	run("one slow tool does not slow another", server.Config{}, fakeapi.Config{}, func(t *testing.T, d *desk) {
		fault(t, d, "search_help=hang")
		var hung []<-chan answer
		for range 30 {
			hung = append(hung, d.begin("search_help", map[string]any{"query": "sso"}))
		}
		synctest.Wait()
		began := time.Now()
		require.False(t, d.call("get_ticket", map[string]any{"ticket_id": "KITE-142"}).IsError)
		require.Zero(t, time.Since(began))
		for _, waiting := range hung {
			require.True(t, (<-waiting).IsError)
		}
	})
}

// Every fault and every tool: an answer within the deadline, in words, never a lie, and as many requests as attempts.
func TestEveryFaultOfEveryTool(t *testing.T) {
	tools := map[string]map[string]any{
		"search_help":       {"query": "locked out"},
		"get_ticket":        {"ticket_id": "KITE-142"},
		"search_tickets":    {"query": "sso", "status": "open"},
		"assign_ticket":     {"ticket_id": "KITE-142", "assignee": "priya"},
		"reply_to_customer": {"ticket_id": "KITE-142", "message": "We are on it."},
	}
	faults := []string{"drop", "hang", "lose", "garble", "truncate", "stall", "redirect", "fail_after_commit", "slow=300ms", "slow=6s",
		"status=400", "status=401", "status=403", "status=404", "status=408", "status=409", "status=422", "status=429", "status=500",
		"status=502", "status=503"}
	for _, keyless := range []bool{false, true} {
		for tool, arguments := range tools {
			for _, fault := range faults {
				for _, times := range []string{"", ":1"} {
					t.Run(fmt.Sprintf("%s=%s%s/keyless=%t", tool, fault, times, keyless), func(t *testing.T) {
						synctest.Test(t, func(t *testing.T) {
							d := open(t, server.Config{IgnoresKeys: keyless}, fakeapi.Config{IgnoreKeys: keyless})
							operation, f, err := fakeapi.ParseFault(tool + "=" + fault + times)
							require.NoError(t, err)
							require.NoError(t, d.SetFault(operation, f))
							began := time.Now()
							got := d.call(tool, arguments)
							require.LessOrEqual(t, time.Since(began), 25*time.Second)
							checkTruth(t, d, tool, got)
						})
					})
				}
			}
		}
	}
}

func checkTruth(t *testing.T, d *desk, tool string, got answer) {
	t.Helper()
	emails := len(d.Outbox())
	require.LessOrEqual(t, emails, 1)
	if !got.IsError {
		require.Equal(t, d.requests(tool), *got.Meta.Attempts)
		require.Contains(t, got.text(), string(got.Structured), "text and object tell the same")
		if tool == "reply_to_customer" {
			require.Equal(t, 1, emails, "told as sent")
		}
		return
	}
	require.Equal(t, d.requests(tool), got.Meta.Error.Attempts, got.text())
	require.True(t, strings.HasPrefix(got.text(), "Error: "), got.text())
	require.Less(t, len(got.text()), 600)
	require.Empty(t, got.Structured)
	if got.Meta.Error.Outcome == "not_done" && tool == "reply_to_customer" {
		require.Zero(t, emails, "told as not sent: "+got.text())
	}
}

func field(a answer, name string) string {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(a.Structured, &object); err != nil {
		return "no object"
	}
	return string(object[name])
}

// pipeListener connects the two sides within the process.
type pipeListener struct {
	accepted chan net.Conn
	closed   chan struct{}
	once     sync.Once
}

func newPipeListener() *pipeListener {
	return &pipeListener{accepted: make(chan net.Conn), closed: make(chan struct{})}
}

func (l *pipeListener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case l.accepted <- theirs:
		return ours, nil
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.accepted:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }
