package main_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// site is the program serving over HTTP. Its methods are for one goroutine, but for try.
type site struct {
	t      *testing.T
	cmd    *exec.Cmd
	log    *bufio.Reader
	url    string
	client *http.Client
	over   bool
}

// startSite starts the program on a free port of loopback. It ends with the test, by a signal; that must go well.
func startSite(t *testing.T, kitebase string) *site {
	t.Helper()
	return startSiteBy(t, kitebase, "--http-token=tok-http")
}

// startSiteWith does it with other settings.
func startSiteWith(t *testing.T, args ...string) *site {
	t.Helper()
	return start{args: args}.site(t)
}

// startSiteBy does it with other ways in.
func startSiteBy(t *testing.T, kitebase string, ways ...string) *site {
	t.Helper()
	return start{args: append(patient(kitebase), ways...)}.openSite(t)
}

// site starts the program on a free port of loopback.
func (s start) site(t *testing.T) *site {
	t.Helper()
	s.args = append(s.args, "--http-token=tok-http")
	return s.openSite(t)
}

func (s start) openSite(t *testing.T) *site {
	t.Helper()
	s.args = append(s.args, "--transport=http", "--addr=127.0.0.1:0")
	one := &site{t: t, cmd: s.command(t), client: &http.Client{Transport: new(http.Transport)}}
	stderr, err := one.cmd.StderrPipe()
	require.NoError(t, err)
	one.log = bufio.NewReader(stderr)
	require.NoError(t, one.cmd.Start())
	t.Cleanup(func() {
		one.client.CloseIdleConnections()
		if !one.over {
			one.signal()
			one.wait()
		}
	})
	one.url = servedAt.FindStringSubmatch(one.logged("serving MCP over HTTP"))[1]
	return one
}

// logged waits for a line of the log that has text.
func (s *site) logged(text string) string {
	s.t.Helper()
	for {
		line, err := s.log.ReadString('\n')
		require.NoError(s.t, err, "the program ended and never logged %q: %s", text, line)
		if strings.Contains(line, text) {
			return line
		}
	}
}

func (s *site) signal() {
	s.t.Helper()
	require.NoError(s.t, s.cmd.Process.Signal(syscall.SIGTERM))
}

// wait waits for the end of the program, which must be a good one.
func (s *site) wait() {
	s.t.Helper()
	s.over = true
	_, err := io.Copy(io.Discard, s.log)
	require.NoError(s.t, err)
	require.NoError(s.t, s.cmd.Wait(), "exit code 0")
}

// request returns a request with all that the server wants to see.
func (s *site) request(method, path, body string) *http.Request {
	s.t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), method, s.url+path, strings.NewReader(body))
	require.NoError(s.t, err)
	r.Header.Set("Authorization", "Bearer tok-http")
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	return r
}

// served is a whole response.
type served struct {
	status int
	header http.Header
	body   string
}

// result reads the body as the answer to a tool call.
func (s served) result(t *testing.T) result {
	t.Helper()
	require.Equal(t, http.StatusOK, s.status, s.body)
	return readAnswer(s.body + "\n").result(t)
}

func (s *site) send(t *testing.T, r *http.Request) served {
	t.Helper()
	got, err := s.try(r)
	require.NoError(t, err)
	return got
}

// try is send for a request that may fail, such as one whose context ends.
func (s *site) try(r *http.Request) (served, error) {
	response, err := s.client.Do(r)
	if err != nil {
		return served{}, err
	}
	defer response.Body.Close()
	if r.URL.Path == "/sse" && response.StatusCode == http.StatusOK {
		return served{response.StatusCode, response.Header, "a stream, which has no end"}, nil
	}
	body, err := io.ReadAll(response.Body)
	return served{response.StatusCode, response.Header, string(body)}, err
}

// later sends a request and returns where its answer will be; a request that fails has none, its status is 0.
func (s *site) later(r *http.Request) <-chan served {
	answers := make(chan served, 1)
	go func() {
		got, _ := s.try(r) // seen by its status
		answers <- got
	}()
	return answers
}

// The two eras of streamable HTTP.
const (
	handshakeRevision = "2025-11-25"
	statelessRevision = "2026-07-28"
)

// toolCall is a tools/call with the id 7, as revisions with a handshake and SSE word it.
func toolCall(tool, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, tool, arguments)
}

// call is a request for a tool on streamable HTTP.
func (s *site) call(revision, tool, arguments string) *http.Request {
	s.t.Helper()
	body := toolCall(tool, arguments)
	if revision == statelessRevision {
		body = stateless(body)
	}
	r := s.request(http.MethodPost, "/mcp", body)
	r.Header.Set("Mcp-Protocol-Version", revision)
	r.Header.Set("Mcp-Method", "tools/call") // these two mean nothing to the older revision
	r.Header.Set("Mcp-Name", tool)
	return r
}

// stateless adds to a message what the revision without a handshake wants in each.
func stateless(message string) string {
	return strings.Replace(message, `"params":{`, `"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
		`"io.modelcontextprotocol/clientCapabilities":{}},`, 1)
}

// stream is the client's end of an SSE session.
type stream struct {
	*site
	path   string // for messages
	events *bufio.Scanner
	leave  context.CancelFunc
}

func (s *site) openStream() *stream {
	s.t.Helper()
	return s.openStreamBy("tok-http")
}

func (s *site) openStreamBy(token string) *stream {
	s.t.Helper()
	ctx, leave := context.WithCancel(context.Background())
	response, err := s.client.Do(by(s.request(http.MethodGet, "/sse", ""), token).WithContext(ctx))
	require.NoError(s.t, err)
	s.t.Cleanup(func() {
		leave()
		_ = response.Body.Close() // the connection is cut anyway
	})
	require.Equal(s.t, http.StatusOK, response.StatusCode)
	opened := &stream{site: s, events: bufio.NewScanner(response.Body), leave: leave}
	opened.path = opened.next()
	return opened
}

// next returns the data of the next event, "" at the end of the stream.
func (s *stream) next() string {
	for s.events.Scan() {
		if data, ok := strings.CutPrefix(s.events.Text(), "data: "); ok {
			return data
		}
	}
	return ""
}

// post sends a message, whose answer comes on the stream.
func (s *stream) post(body string) {
	s.t.Helper()
	got := s.send(s.t, s.request(http.MethodPost, s.path, body))
	require.Equal(s.t, http.StatusAccepted, got.status, got.body)
}

// result returns the next event as the answer to a tool call.
func (s *stream) result() result {
	s.t.Helper()
	return readAnswer(s.next() + "\n").result(s.t)
}
