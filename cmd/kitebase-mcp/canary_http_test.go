package main_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"syscall"

	"github.com/stretchr/testify/require"
)

// speakHTTP asks everything over HTTP, and much that is refused.
func (s *leakScene) speakHTTP() {
	cmd := start{args: append(patiently(), "--transport=http", "--addr=127.0.0.1:0"), env: s.env()}.command(s.t)
	log, err := os.Create(filepath.Join(s.t.TempDir(), "stderr"))
	require.NoError(s.t, err)
	defer log.Close()
	var stdout bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, log
	require.NoError(s.t, cmd.Start())
	var address []string
	require.Eventually(s.t, func() bool {
		said, err := os.ReadFile(log.Name())
		address = servedAt.FindStringSubmatch(string(said))
		return err == nil && address != nil
	}, watchdog, watchdog/10000)
	site := &site{t: s.t, url: address[1], client: &http.Client{Transport: new(http.Transport)}}

	for i, one := range exchanges() {
		r := s.post(site, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, i, one.method, one.params))
		s.hear(site, one.output, r)
	}
	for _, r := range s.refusedRequests(site) {
		s.hear(site, "answers", r)
	}
	site.client.CloseIdleConnections()
	require.NoError(s.t, cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(s.t, cmd.Wait())
	said, err := os.ReadFile(log.Name())
	require.NoError(s.t, err)
	s.out.add("stderr: HTTP", string(said))
	s.out.add("stdout: HTTP", stdout.String())
}

func (s *leakScene) post(site *site, body string) *http.Request {
	r := site.request(http.MethodPost, "/mcp", body)
	r.Header.Set("Authorization", "Bearer "+canary("http token"))
	return r
}

// hear sends a request and keeps its answer, header and all.
func (s *leakScene) hear(site *site, output string, r *http.Request) {
	got, err := site.try(r)
	require.NoError(s.t, err)
	var header bytes.Buffer
	require.NoError(s.t, got.header.Write(&header))
	if r.URL.Path == "/metrics" {
		output = "metrics"
	}
	s.out.add(output+": HTTP", header.String(), got.body)
}

// refusedRequests are requests in which something is wrong that is no part of a call.
func (s *leakScene) refusedRequests(site *site) []*http.Request {
	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`
	changed := func(change func(*http.Request)) *http.Request {
		r := s.post(site, list)
		change(r)
		return r
	}
	header := func(name, value string) *http.Request {
		return changed(func(r *http.Request) { r.Header.Set(name, value) })
	}
	to := func(method, path string) *http.Request {
		r := s.post(site, "")
		other, err := http.NewRequestWithContext(context.Background(), method, site.url+path, nil)
		require.NoError(s.t, err)
		other.Header = r.Header
		return other
	}
	return []*http.Request{
		header("Authorization", "Bearer "+canary("http token of a wrong client")),
		header("Authorization", "Basic "+canary("http token of a wrong client, Basic")),
		header("Cookie", "session="+canary("cookie of a client")),
		header("Mcp-Session-Id", canary("session id of a client")),
		header("Last-Event-ID", canary("event id of a client")),
		header("Mcp-Protocol-Version", canary("protocol version of a client")),
		header("Origin", "https://"+canary("Origin of a request")+".example"),
		changed(func(r *http.Request) { r.Host = canary("Host of a request") + ".example" }),
		to(http.MethodGet, "/mcp?access_token="+canary("http token in a query")),
		to(http.MethodGet, "/"+canary("path of a request")),
		to(http.MethodPost, "/message?sessionId="+canary("session id of a client")),
		to(canary("method of a request"), "/mcp"),
		s.post(site, `{"broken: `+words("body that is no JSON")),
		s.post(site, `[`+list+`,`+words("body that is no JSON")+`]`),
		s.post(site, `{"jsonrpc":"`+canary("body that is no JSON")+`","id":1,"method":"tools/list"}`),
		to(http.MethodGet, "/healthz"), to(http.MethodGet, "/readyz"), to(http.MethodGet, "/metrics"),
	}
}
