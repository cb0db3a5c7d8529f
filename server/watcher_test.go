package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/fakeapi"
	"github.com/kitebase/kitebase-mcp/server"
)

// watcher is a client on stdio that keeps every line it gets, notifications too. It is for use inside a synctest bubble.
type watcher struct {
	*fakeapi.Fake
	t      *testing.T
	server *server.Server
	lines  io.WriteCloser
	next   int

	mu   sync.Mutex
	came sync.Cond
	got  []line
}

// line is what the tests look at in a line of the server.
type line struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// watch starts a fake Kitebase, a server and a client, which end with the test. Nothing is said yet.
func watch(t *testing.T, config server.Config) *watcher {
	t.Helper()
	fake, listener := kitebase(t, fakeapi.Config{})
	config.URL, config.DialContext = "http://kitebase.test", listener.dial
	srv, err := server.New(config)
	require.NoError(t, err)
	in, lines := io.Pipe()
	out, results := io.Pipe()
	served, read := make(chan error, 1), make(chan struct{})
	go func() { served <- srv.ServeStdio(context.Background(), in, results); results.Close() }()
	w := &watcher{Fake: fake, t: t, server: srv, lines: lines}
	w.came.L = &w.mu
	go func() { defer close(read); w.read(out) }()
	t.Cleanup(func() {
		lines.Close()
		require.NoError(t, <-served)
		<-read
		srv.Close()
	})
	return w
}

func (w *watcher) read(out io.Reader) {
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var l line
		if json.Unmarshal(lines.Bytes(), &l) != nil {
			panic("not JSON-RPC: " + lines.Text())
		}
		w.mu.Lock()
		w.got = append(w.got, l)
		w.came.Broadcast()
		w.mu.Unlock()
	}
}

// shakeHands begins a session of a revision before 2026-07-28, and returns what the server can do.
func (w *watcher) shakeHands() string {
	w.t.Helper()
	hello := w.ask("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"0"}}`)
	w.write(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	var can struct{ Capabilities json.RawMessage }
	require.NoError(w.t, json.Unmarshal(hello.Result, &can))
	return string(can.Capabilities)
}

func (w *watcher) write(text string) {
	w.t.Helper()
	_, err := io.WriteString(w.lines, text+"\n")
	require.NoError(w.t, err)
}

// begin sends a request and returns its id.
func (w *watcher) begin(method, params string) (id string) {
	w.t.Helper()
	w.next++
	w.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, w.next, method, params))
	return fmt.Sprint(w.next)
}

// ask sends a request and waits for its answer, whatever it is.
func (w *watcher) ask(method, params string) line {
	w.t.Helper()
	id := w.begin(method, params)
	w.mu.Lock()
	defer w.mu.Unlock()
	for seen := 0; ; {
		for ; seen < len(w.got); seen++ {
			if string(w.got[seen].ID) == id {
				return w.got[seen]
			}
		}
		w.came.Wait()
	}
}

// call calls a tool; arguments and meta are JSON.
func (w *watcher) call(tool, arguments, meta string) answer {
	w.t.Helper()
	got := w.ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s,"_meta":%s}`, tool, arguments, meta))
	require.Nil(w.t, got.Error, "%s", got.Error)
	var a answer
	require.NoError(w.t, json.Unmarshal(got.Result, &a))
	return a
}

// fails calls a tool that must fail, n times.
func (w *watcher) fails(n int, tool, arguments string) {
	w.t.Helper()
	for range n {
		require.True(w.t, w.call(tool, arguments, "{}").IsError)
	}
}

// told returns the notifications so far as "method params", without those on progress, and forgets them.
func (w *watcher) told() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := []string{}
	for i, l := range w.got {
		if l.Method != "" {
			all = append(all, l.Method+" "+string(l.Params))
			w.got[i].Method = ""
		}
	}
	return all
}

// tools returns the names in tools/list.
func (w *watcher) tools(params string) []string {
	w.t.Helper()
	var list struct{ Tools []struct{ Name string } }
	require.NoError(w.t, json.Unmarshal(w.ask("tools/list", params).Result, &list))
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	return names
}

// status reads the status as JSON and as text.
func (w *watcher) status() (object, text string) {
	w.t.Helper()
	got := w.ask("resources/read", `{"uri":"kitebase://status"}`)
	require.Nil(w.t, got.Error, "%s", got.Error)
	var read struct {
		Contents []struct{ URI, MIMEType, Text string }
	}
	require.NoError(w.t, json.Unmarshal(got.Result, &read))
	require.Len(w.t, read.Contents, 2)
	require.Equal(w.t, "kitebase://status", read.Contents[0].URI)
	require.Equal(w.t, "application/json", read.Contents[0].MIMEType)
	require.Equal(w.t, "kitebase://status", read.Contents[1].URI)
	require.Equal(w.t, "text/plain", read.Contents[1].MIMEType)
	return read.Contents[0].Text, read.Contents[1].Text
}
