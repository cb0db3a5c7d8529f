package web_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server/web"
)

func TestClients(t *testing.T) {
	for name, connect := range map[string]func(*testing.T, *desk) *client.Client{
		"streamable":         connectStreamable,
		"streamable, legacy": connectLegacy,
		"sse":                connectSSE,
	} {
		t.Run(name, func(t *testing.T) {
			d := openDesk(t, web.Config{Token: "t"})
			c := connect(t, d)
			tools, err := c.ListTools(t.Context(), mcp.ListToolsRequest{})
			require.NoError(t, err)
			require.Len(t, tools.Tools, 7)
			result, err := c.CallTool(t.Context(), mcp.CallToolRequest{
				Params: mcp.CallToolParams{Name: "echo", Arguments: map[string]any{"text": "hello"}}})
			require.NoError(t, err)
			require.Equal(t, "hello", result.Content[0].(mcp.TextContent).Text)
			require.EqualValues(t, 1, d.runs.Load())
		})
	}
}

func connectStreamable(t *testing.T, d *desk) *client.Client {
	c, err := client.NewStreamableHttpClient("http://"+d.addr+"/mcp", transport.WithHTTPBasicClient(d.client),
		transport.WithHTTPHeaders(map[string]string{"Authorization": "Bearer t"}))
	require.NoError(t, err)
	return initialize(t, c)
}

// connectLegacy asks for a stream of its own, which keeps the client on 2025-11-25, and must do without.
func connectLegacy(t *testing.T, d *desk) *client.Client {
	c, err := client.NewStreamableHttpClient("http://"+d.addr+"/mcp", transport.WithHTTPBasicClient(d.client),
		//lint:ignore SA1019 hosts still ask for it, so it is tested for as long as mcp-go can
		transport.WithContinuousListening(), transport.WithHTTPHeaders(map[string]string{"Authorization": "Bearer t"}))
	require.NoError(t, err)
	return initialize(t, c)
}

func connectSSE(t *testing.T, d *desk) *client.Client {
	c, err := client.NewSSEMCPClient("http://"+d.addr+"/sse", transport.WithHTTPClient(d.client),
		transport.WithHeaders(map[string]string{"Authorization": "Bearer t"}))
	require.NoError(t, err)
	return initialize(t, c)
}

func initialize(t *testing.T, c *client.Client) *client.Client {
	t.Helper()
	t.Cleanup(func() { _ = c.Close() })
	require.NoError(t, c.Start(t.Context()))
	_, err := c.Initialize(t.Context(), mcp.InitializeRequest{})
	require.NoError(t, err)
	return c
}

func TestOlderRevisions(t *testing.T) {
	for _, revision := range []string{"2025-03-26", "2025-06-18", "2025-11-25"} {
		t.Run(revision, func(t *testing.T) {
			d := openDesk(t, web.Config{})
			r := d.do(t, "POST", "/mcp", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"`+revision+
				`","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
			require.Contains(t, answer(t, r), `"protocolVersion":"`+revision+`"`)
			session := r.Header.Get("Mcp-Session-Id")
			require.NotEmpty(t, session)
			header := []string{"Mcp-Session-Id", session, "Mcp-Protocol-Version", revision}
			require.Equal(t, 202, d.do(t, "POST", "/mcp", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, header...).StatusCode)
			require.Contains(t, answer(t, d.do(t, "POST", "/mcp", toolCall("1", "echo"), header...)), `"text":"echo"`)

			// Another replica, or this one after a restart, has never heard of the session and must serve it.
			other := openDesk(t, web.Config{})
			require.Contains(t, answer(t, other.do(t, "POST", "/mcp", toolCall("2", "echo"), header...)), `"text":"echo"`)
			require.Contains(t, answer(t, other.do(t, "POST", "/mcp", toolCall("3", "echo"))), `"text":"echo"`)
		})
	}
}

// modern sends a request of revision 2026-07-28.
func modern(method, name, id string) (body string, header []string) {
	header = []string{"Mcp-Protocol-Version", mcp.ProtocolVersion20260728, "Mcp-Method", method,
		"Accept", "application/json, text/event-stream"}
	params := `"_meta":{"` + mcp.MetaKeyProtocolVersion + `":"2026-07-28","` + mcp.MetaKeyClientCapabilities + `":{}}`
	if name != "" {
		header = append(header, "Mcp-Name", name)
		params += `,"name":"` + name + `"`
	}
	if method == string(mcp.MethodSubscriptionsListen) {
		params += `,"notifications":{"toolsListChanged":true}`
	}
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":{` + params + `}}`, header
}

func TestModernRevision(t *testing.T) {
	d := openDesk(t, web.Config{})
	t.Run("discover", func(t *testing.T) {
		body, header := modern("server/discover", "", "1")
		r := d.do(t, "POST", "/mcp", body, header...)
		require.Equal(t, 200, r.StatusCode)
		require.Empty(t, r.Header.Get("Mcp-Session-Id"))
		require.Contains(t, answer(t, r), `"supportedVersions":["2026-07-28"`)
	})
	t.Run("call", func(t *testing.T) {
		body, header := modern("tools/call", "echo", `"a"`)
		require.Contains(t, answer(t, d.do(t, "POST", "/mcp", body, header...)), `"text":"echo"`)
	})
	t.Run("unknown method", func(t *testing.T) {
		body, header := modern("tools/forget", "", "1")
		require.Equal(t, 404, d.do(t, "POST", "/mcp", body, header...).StatusCode)
	})
	t.Run("header and body differ", func(t *testing.T) {
		runs := d.runs.Load()
		body, header := modern("tools/call", "echo", "1")
		header[3] = "tools/list"
		require.Equal(t, 400, d.do(t, "POST", "/mcp", body, header...).StatusCode)
		require.Equal(t, runs, d.runs.Load())
	})
	t.Run("progress", func(t *testing.T) {
		body, header := modern("tools/call", "progress", "1")
		r := d.do(t, "POST", "/mcp", body, header...)
		require.Equal(t, "text/event-stream", r.Header.Get("Content-Type"))
		events := strings.Split(strings.TrimSuffix(answer(t, r), "\n\n"), "\n\n")
		requireProgressFirst(t, events)
	})
}

func TestProgressOverSSE(t *testing.T) {
	d := openDesk(t, web.Config{})
	s := openSSE(t, d)
	s.post(t, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}`)
	require.Contains(t, s.next(t), "protocolVersion")
	s.post(t, toolCall("1", "progress"))
	s.post(t, toolCall("2", "echo"))
	var events []string
	for range 52 {
		events = append(events, s.next(t))
	}
	echo := slices.IndexFunc(events, func(e string) bool { return strings.Contains(e, `"id":2`) })
	requireProgressFirst(t, slices.Delete(events, echo, echo+1))
	require.Contains(t, events[49], `"progress":50`, "one was lost")
}

// requireProgressFirst wants notifications with rising progress, then the answer, then nothing.
func requireProgressFirst(t *testing.T, events []string) {
	t.Helper()
	require.Greater(t, len(events), 1)
	last := 0
	for _, e := range events[:len(events)-1] {
		_, data, _ := strings.Cut(e, "{")
		var n struct{ Params struct{ Progress int } }
		require.NoError(t, json.Unmarshal([]byte("{"+data), &n))
		require.Greater(t, n.Params.Progress, last)
		last = n.Params.Progress
	}
	require.Contains(t, events[len(events)-1], "progressed")
}

// The call deadline counts from here, and stdio stamps the same moment.
func TestArrivalIsStamped(t *testing.T) {
	before := time.Now()
	d := openDesk(t, web.Config{})
	s := openSSE(t, d)
	_ = answer(t, d.do(t, "POST", "/mcp", toolCall("1", "echo")))
	s.post(t, toolCall("1", "echo"))
	require.True(t, json.Valid([]byte(s.next(t))))
	for range 2 {
		arrived := <-d.arrived
		require.False(t, arrived.Before(before))
		require.False(t, arrived.After(time.Now()))
	}
}
