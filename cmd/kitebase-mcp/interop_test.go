package main_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os/exec"
	"regexp"
	"syscall"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/fakeapi"
)

// TestMCPGoClient: mcp-go's own client against the program, on each transport, with and without the handshake that
// revision 2026-07-28 did away with. The clients of others are driven by .ci/interop/run.
func TestMCPGoClient(t *testing.T) {
	t.Parallel()
	for name, connect := range map[string]func(*testing.T, string, ...client.ClientOption) *client.Client{
		"stdio": connectStdio, "streamable": connectStreamable, "sse": connectSSE,
	} {
		for revision, options := range map[string][]client.ClientOption{
			//lint:ignore SA1019 hosts still speak the older revision, so it is tested for as long as mcp-go can
			"2026-07-28": {client.WithDiscoverTimeout(-1)}, "2025-11-25": {client.WithLegacyProtocolOnly()},
		} {
			t.Run(name+" "+revision, func(t *testing.T) {
				t.Parallel()
				kitebase := startUpstream(t, fakeapi.Config{})
				c := connect(t, kitebase.url, options...)
				_, err := c.Initialize(t.Context(), mcp.InitializeRequest{})
				require.NoError(t, err)
				require.Equal(t, revision, c.ProtocolVersion())
				useAllTools(t, c)
				require.Equal(t, []string{"rpl_001"}, kitebase.emailsTo("KITE-142"))
			})
		}
	}
}

// useAllTools lists and calls the five tools, repeats a reply, and makes two errors.
func useAllTools(t *testing.T, c *client.Client) {
	listed, err := c.ListTools(t.Context(), mcp.ListToolsRequest{})
	require.NoError(t, err)
	names := []string{}
	for _, tool := range listed.Tools {
		names = append(names, tool.Name)
	}
	require.Equal(t, allTools(), names)

	for _, call := range []struct{ tool, arguments, has string }{
		{"search_help", `{"query":"locked out"}`, `"id":"account-recovery#2"`},
		{"get_ticket", ticket142, `"name":"Northwind Studio"`},
		{"search_tickets", `{"query":"sso","status":null}`, `"id":"KITE-142"`},
		{"assign_ticket", `{"ticket_id":"KITE-142","assignee":"priya"}`, `"assignee":"priya"`},
		{"reply_to_customer", updateReply, `"reply_id":"rpl_001"`},
		{"reply_to_customer", updateReply, `"already_sent":true`},
	} {
		r := callByClient(t, c, call.tool, call.arguments)
		require.False(t, r.IsError, r.text())
		require.Contains(t, r.text(), call.has)
		require.Contains(t, string(r.Structured), call.has)
	}
	for arguments, text := range map[string]string{
		`{"ticket_id":"KITE-412"}`: `^Error: No ticket KITE-412\. Ticket ids look like KITE-142\.$`,
		`{}`:                       `^Error: get_ticket .*ticket_id`,
	} {
		r := callByClient(t, c, "get_ticket", arguments)
		require.True(t, r.IsError)
		require.Regexp(t, text, r.text())
		require.Empty(t, r.Structured)
	}
}

// callByClient returns the result as it would stand on the wire, which the other tests read too. The client must not take
// any for an error of the protocol.
func callByClient(t *testing.T, c *client.Client, tool, arguments string) result {
	t.Helper()
	got, err := c.CallTool(t.Context(), mcp.CallToolRequest{Params: mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)}})
	require.NoError(t, err)
	line, err := json.Marshal(got)
	require.NoError(t, err)
	return answer{Result: line}.result(t)
}

func connectStdio(t *testing.T, kitebase string, options ...client.ClientOption) *client.Client {
	t.Helper()
	c := client.NewClient(transport.NewStdioWithOptions("kitebase-mcp", nil, nil,
		transport.WithCommandFunc(func(context.Context, string, []string, []string) (*exec.Cmd, error) {
			return start{args: []string{"--url", kitebase, "--ledger=memory"}}.command(t), nil
		})), options...)
	require.NoError(t, c.Start(t.Context()))
	t.Cleanup(func() { require.NoError(t, c.Close(), "the exit code of the program is 0") })
	return c
}

func connectStreamable(t *testing.T, kitebase string, options ...client.ClientOption) *client.Client {
	t.Helper()
	over, err := transport.NewStreamableHTTP(serveWeb(t, kitebase)+"/mcp", transport.WithHTTPBasicClient(noKeepAlive()),
		transport.WithHTTPHeaders(map[string]string{"Authorization": "Bearer tok-http"}))
	require.NoError(t, err)
	return startClient(t, over, options)
}

func connectSSE(t *testing.T, kitebase string, options ...client.ClientOption) *client.Client {
	t.Helper()
	over, err := transport.NewSSE(serveWeb(t, kitebase)+"/sse", transport.WithHTTPClient(noKeepAlive()),
		transport.WithHeaders(map[string]string{"Authorization": "Bearer tok-http"}))
	require.NoError(t, err)
	return startClient(t, over, options)
}

func startClient(t *testing.T, over transport.Interface, options []client.ClientOption) *client.Client {
	t.Helper()
	c := client.NewClient(over, options...)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	require.NoError(t, c.Start(t.Context()))
	return c
}

// noKeepAlive returns a client that leaves no connection behind.
func noKeepAlive() *http.Client {
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
}

var servedAt = regexp.MustCompile(`"streamable":"(http://[^/]+)/mcp"`)

// serveWeb starts the program on a free port and returns its address. It must end well when it is asked to.
func serveWeb(t *testing.T, kitebase string) string {
	t.Helper()
	cmd := start{args: []string{"--transport=http", "--addr=127.0.0.1:0", "--http-token=tok-http", "--url", kitebase, "--ledger=memory"}}.command(t)
	stderr, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewReader(stderr)
	t.Cleanup(func() {
		require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
		_, err := io.Copy(io.Discard, lines)
		require.NoError(t, err)
		require.NoError(t, cmd.Wait(), "exit code 0")
	})
	for {
		line, err := lines.ReadString('\n')
		require.NoError(t, err, "the program ended before it served: %s", line)
		if found := servedAt.FindStringSubmatch(line); found != nil {
			return found[1]
		}
	}
}
