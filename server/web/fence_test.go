package web_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server/web"
)

// A web page could call tools of a local server: mcp-go checks no Origin, its SSE takes text/plain, and neither limits
// bodies. Each of these must be refused on both transports, before any tool runs.
func TestRefusals(t *testing.T) {
	const token = "correct-horse"
	large := strings.Repeat(" ", 1<<20)
	cases := []struct {
		name   string
		method string
		body   string
		header []string
		status int
	}{
		{"foreign origin", "POST", "", []string{"Origin", "https://evil.example"}, 403},
		{"null origin", "POST", "", []string{"Origin", "null"}, 403},
		{"origin of another local port", "POST", "", []string{"Origin", "http://127.0.0.1:1"}, 403},
		{"foreign host", "POST", "", []string{"Host", "evil.example"}, 403},
		{"foreign host and its origin", "POST", "", []string{"Host", "evil.example:8090", "Origin", "http://evil.example:8090"}, 403},
		{"host that begins like ours", "POST", "", []string{"Host", "localhost.evil.example"}, 403},
		{"no token", "POST", "", []string{"Authorization", ""}, 401},
		{"wrong token", "POST", "", []string{"Authorization", "Bearer correct-hors"}, 401},
		{"wrong scheme", "POST", "", []string{"Authorization", "Basic " + token}, 401},
		{"no token and a body that is no JSON", "POST", "{", []string{"Authorization", ""}, 401},
		{"text/plain", "POST", "", []string{"Content-Type", "text/plain"}, 415},
		{"form", "POST", "", []string{"Content-Type", "application/x-www-form-urlencoded"}, 415},
		{"no content type", "POST", "", []string{"Content-Type", ""}, 415},
		{"body of 2 MiB", "POST", large + large, nil, 413},
		{"body a byte too long", "POST", large + "1", nil, 413},
		{"no JSON", "POST", `{"jsonrpc":`, nil, 400},
		{"JSON and more", "POST", toolCall("1", "echo") + "{}", nil, 400},
		{"empty body", "POST", " ", nil, 400},
		{"a string", "POST", `"tools/call"`, nil, 400},
		{"method no string", "POST", `{"jsonrpc":"2.0","id":1,"method":1}`, nil, 400},
		{"id an object", "POST", `{"jsonrpc":"2.0","id":{},"method":"tools/call","params":{"name":"echo"}}`, nil, 400},
		{"PUT", "PUT", "", nil, 405},
		{"DELETE", "DELETE", "", nil, 405},
		{"OPTIONS", "OPTIONS", "", nil, 405},
	}
	d := openDesk(t, web.Config{Token: token})
	session := openSSE(t, d, "Authorization", "Bearer "+token)
	for _, c := range cases {
		for name, path := range map[string]string{"streamable": "/mcp", "sse": session.endpoint} {
			t.Run(c.name+"/"+name, func(t *testing.T) {
				body := c.body
				if body == "" {
					body = toolCall("1", "echo")
				}
				r := d.do(t, c.method, path, body, append([]string{"Authorization", "Bearer " + token}, c.header...)...)
				require.Equal(t, c.status, r.StatusCode)
				require.NotEqual(t, "*", r.Header.Get("Access-Control-Allow-Origin"))
				require.Equal(t, c.status == 401, r.Header.Get("WWW-Authenticate") != "")
				require.Equal(t, c.status == 405, r.Header.Get("Allow") == "POST")
				require.Contains(t, answer(t, r), `"jsonrpc":"2.0","id":null,"error":`)
			})
		}
	}
	require.Zero(t, d.runs.Load(), "a refused request ran a tool")
	require.NotContains(t, d.log.String(), "correct-hors", "a token is in the log")
}

// A body that does not say how long it is.
func TestChunkedBodyIsLimited(t *testing.T) {
	d := openDesk(t, web.Config{})
	r, err := http.NewRequestWithContext(t.Context(), "POST", "http://"+d.addr+"/mcp",
		io.MultiReader(strings.NewReader(strings.Repeat(" ", 1<<20)), strings.NewReader(toolCall("1", "echo"))))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/json")
	response, err := d.client.Do(r)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, 413, response.StatusCode)
	require.Zero(t, d.runs.Load())
}

// The stream itself passes the same fence.
func TestRefusalsOfStreams(t *testing.T) {
	d := openDesk(t, web.Config{Token: "t"})
	for name, c := range map[string]struct {
		header []string
		status int
	}{
		"foreign origin": {[]string{"Authorization", "Bearer t", "Origin", "https://evil.example"}, 403},
		"foreign host":   {[]string{"Authorization", "Bearer t", "Host", "evil.example"}, 403},
		"no token":       {nil, 401},
		"wrong token":    {[]string{"Authorization", "Bearer u"}, 401},
	} {
		t.Run(name, func(t *testing.T) {
			r := d.do(t, "GET", "/sse", "", c.header...)
			require.Equal(t, c.status, r.StatusCode)
			require.Empty(t, r.Header.Get("Access-Control-Allow-Origin"))
		})
	}
	t.Run("wrong method", func(t *testing.T) {
		require.Equal(t, 405, d.do(t, "HEAD", "/sse", "", "Authorization", "Bearer t").StatusCode)
		require.Equal(t, 405, d.do(t, "GET", "/mcp", "", "Authorization", "Bearer t").StatusCode)
	})
	t.Run("unknown session", func(t *testing.T) {
		require.Equal(t, 404, d.do(t, "POST", "/message?sessionId=x", toolCall("1", "echo"), "Authorization", "Bearer t").StatusCode)
	})
	t.Run("unknown path", func(t *testing.T) {
		require.Equal(t, 401, d.do(t, "GET", "/", "").StatusCode)
		require.Equal(t, 404, d.do(t, "GET", "/", "", "Authorization", "Bearer t").StatusCode)
	})
	require.Zero(t, d.runs.Load())
}

func TestAdmitted(t *testing.T) {
	d := openDesk(t, web.Config{Token: "t", AllowedOrigins: []string{"https://Desk.example.com:443"}})
	for name, header := range map[string][]string{
		"no origin":                  nil,
		"allowed origin":             {"Origin", "https://desk.example.com"},
		"own origin":                 {"Origin", "http://" + d.addr},
		"localhost by name":          {"Host", "localhost"},
		"localhost through a tunnel": {"Host", "LOCALHOST:9999"},
		"IPv6 loopback":              {"Host", "[::1]:8090"},
		"charset":                    {"Content-Type", "application/json; charset=utf-8"},
		"scheme in lower case":       {"Authorization", "bearer t"},
	} {
		t.Run(name, func(t *testing.T) {
			r := d.do(t, "POST", "/mcp", toolCall("1", "echo"), append([]string{"Authorization", "Bearer t"}, header...)...)
			require.Equal(t, 200, r.StatusCode)
			require.Contains(t, answer(t, r), `"text":"echo"`)
			require.Equal(t, r.Request.Header.Get("Origin"), r.Header.Get("Access-Control-Allow-Origin"))
		})
	}
}

func TestPreflight(t *testing.T) {
	d := openDesk(t, web.Config{Token: "t", AllowedOrigins: []string{"https://desk.example.com"}})
	preflight := func(origin string) *http.Response {
		return d.do(t, "OPTIONS", "/mcp", "", "Origin", origin, "Access-Control-Request-Method", "POST")
	}
	t.Run("allowed", func(t *testing.T) {
		r := preflight("https://desk.example.com") // a browser sends no token here
		require.Equal(t, 204, r.StatusCode)
		require.Equal(t, "https://desk.example.com", r.Header.Get("Access-Control-Allow-Origin"))
		require.Contains(t, r.Header.Get("Access-Control-Allow-Headers"), "Mcp-Protocol-Version")
		require.Equal(t, "Origin", r.Header.Get("Vary"))
	})
	t.Run("foreign", func(t *testing.T) {
		r := preflight("https://evil.example")
		require.Equal(t, 403, r.StatusCode)
		require.Empty(t, r.Header.Get("Access-Control-Allow-Origin"))
	})
	t.Run("an allowed page can read a 401", func(t *testing.T) {
		r := d.do(t, "POST", "/mcp", "{}", "Origin", "https://desk.example.com")
		require.Equal(t, 401, r.StatusCode)
		require.Equal(t, "https://desk.example.com", r.Header.Get("Access-Control-Allow-Origin"))
	})
}

func TestHealth(t *testing.T) {
	d := openDesk(t, web.Config{Token: "t"})
	r := d.do(t, "GET", "/healthz", "", "Host", "10.0.0.7")
	require.Equal(t, 200, r.StatusCode)
	require.Equal(t, "ok\n", answer(t, r))
	require.Equal(t, 200, d.do(t, "GET", "/readyz", "").StatusCode)
}
