package web_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server/web"
	"github.com/kitebase/kitebase-mcp/server/wording"
)

// A twin is one MCP server behind mcp-go's own handler, with its protocol errors in public words, and behind ours. What a client
// sees of the two must be the same, in whichever way ours answers.
type twin struct{ bare, ours http.Handler }

func newTwin(t testing.TB) twin {
	t.Helper()
	hooks := new(mcpserver.Hooks)
	hooks.AddBeforeCallTool(web.Headers)
	m := mcpserver.NewMCPServer("desk", "1", mcpserver.WithToolCapabilities(true), mcpserver.WithResourceCapabilities(false, false),
		mcpserver.WithHooks(hooks))
	add := func(name string, run mcpserver.ToolHandlerFunc, options ...mcp.ToolOption) {
		m.AddTool(mcp.NewTool(name, options...), run)
	}
	add("echo", func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(r.GetString("text", "<echo>")), nil
	}, mcp.WithString("text", mcp.Description("What comes back.")))
	add("object", func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		result := mcp.NewToolResultStructured(map[string]any{"arguments": r.GetArguments()}, "see there")
		result.Meta = mcp.NewMetaFromMap(map[string]any{"io.kitebase/attempts": 1})
		return result, nil
	})
	add("header", func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(r.Header.Get("Traceparent")), nil
	})
	add("refuse", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultError("Error: no."), nil
	})
	add("fail", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return nil, errors.New("json: inside")
	})
	add("nothing", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) { return nil, nil })
	add("progress", func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for i := range 3 {
			_ = mcpserver.ServerFromContext(ctx).SendNotificationToClient(ctx, "notifications/progress",
				map[string]any{"progressToken": "<t>", "progress": i + 1})
		}
		return mcp.NewToolResultText("progressed"), nil
	})
	m.AddResource(mcp.NewResource("desk://status", "status"), func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		return []mcp.ResourceContents{mcp.TextResourceContents{URI: "desk://status", Text: "well"}}, nil
	})
	s, err := web.New(m, web.Config{})
	require.NoError(t, err)
	bare := mcpserver.NewStreamableHTTPServer(m, mcpserver.WithStateLess(true), mcpserver.WithDisableStreaming(true))
	return twin{bare: inPublicWords(bare), ours: s.Handler()}
}

func inPublicWords(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, r)
		maps.Copy(w.Header(), answer.Header())
		w.WriteHeader(answer.Code)
		_, _ = w.Write(wording.Answer(answer.Body.Bytes()))
	})
}

// Seen is what a client sees of an answer.
type seen struct {
	status   int
	header   http.Header // as far as it says how to read the answer
	messages []any
}

// see posts body with header, a list of names and values, to handler.
func see(t testing.TB, handler http.Handler, body string, header ...string) seen {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(body))
	r.Host = "localhost"
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	text, s := w.Body.String(), seen{status: w.Code, header: http.Header{}}
	for _, name := range []string{"Content-Type", "Connection", "Mcp-Session-Id"} {
		s.header[name] = w.Header()[name]
	}
	switch w.Header().Get("Content-Type") {
	case "application/json":
		s.messages = []any{decoded(t, text)}
	case "text/event-stream":
		s.header["Cache-Control"] = w.Header()["Cache-Control"]
		for event := range strings.SplitSeq(strings.TrimSuffix(text, "\n\n"), "\n\n") {
			data, ok := strings.CutPrefix(event, "event: message\ndata: ")
			require.True(t, ok, event)
			s.messages = append(s.messages, decoded(t, data))
		}
	default:
		s.messages = []any{text}
	}
	return s
}

// requireAlike lets mcp-go lose notifications: it drops one that it has just taken from the queue when the answer comes.
func requireAlike(t testing.TB, bare, ours seen) {
	t.Helper()
	if len(ours.messages) > 1 {
		require.Len(t, ours.messages, 4)
		require.Subset(t, ours.messages, bare.messages)
		require.Equal(t, bare.messages[len(bare.messages)-1], ours.messages[3])
		bare.messages = ours.messages
	}
	require.Equal(t, bare, ours)
}

func decoded(t testing.TB, text string) (value any) {
	t.Helper()
	require.NotContains(t, strings.TrimSuffix(text, "\n"), "\n", "an answer is one line")
	require.NoError(t, json.Unmarshal([]byte(text), &value), text)
	return value
}

// Each of these is one reading of the transport, or of JSON, that ours could have got wrong.
var alike = map[string]struct {
	body   string
	header []string
}{
	"a call":                          {toolCall("1", "echo"), nil},
	"a call with a session":           {toolCall("1", "echo"), []string{"Mcp-Session-Id", "MINE", "Mcp-Protocol-Version", "2025-11-25"}},
	"the oldest revision":             {toolCall(`"a"`, "echo"), []string{"Mcp-Protocol-Version", "2024-11-05"}},
	"no revision that there is":       {toolCall("1", "echo"), []string{"Mcp-Protocol-Version", "2025-01-01"}},
	"no revision at all":              {toolCall("1", "echo"), []string{"Mcp-Protocol-Version", "x"}},
	"the newest, by header only":      {toolCall("1", "echo"), []string{"Mcp-Protocol-Version", "2026-07-28"}},
	"the newest, in the body only":    {withMeta(`"io.modelcontextprotocol/protocolVersion":"2026-07-28"`), nil},
	"the newest, by escapes":          {withMeta(`"\u0069o.modelcontextprotocol\/protocolVersion":"2026-07-28"`), nil},
	"the newest, in the first of two": {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}},"params":{"name":"echo"}}`, nil},
	"an older one in the body":        {withMeta(`"io.modelcontextprotocol/protocolVersion":"2025-06-18"`), nil},
	"escapes that name nothing":       {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a\n\u003cb"}}}`, nil},
	"an object":                       {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"object","arguments":{"a":[1,"<&>",null]}}}`, nil},
	"a header":                        {toolCall("1", "header"), []string{"Traceparent", "00-1-2-01"}},
	"an error of the tool":            {toolCall("1", "refuse"), nil},
	"an error of Go":                  {toolCall("1", "fail"), nil},
	"no result":                       {toolCall("1", "nothing"), nil},
	"progress":                        {toolCall("1", "progress"), nil},
	"an unknown tool":                 {toolCall("1", "nope"), nil},
	"an unknown method":               {`{"jsonrpc":"2.0","id":1,"method":"tickets/list"}`, nil},
	"a method without capability":     {`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"info"}}`, nil},
	"no such revision's method":       {`{"jsonrpc":"2.0","id":1,"method":"server/discover"}`, nil},
	"a ping":                          {`{"jsonrpc":"2.0","id":1,"method":"ping"}`, nil},
	"a list":                          {`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`, nil},
	"a resource":                      {`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"desk://status"}}`, nil},
	"no such resource":                {`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"desk://x y"}}`, nil},
	"unfit parameters":                {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}`, nil},
	"no parameters":                   {`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, nil},
	"a list for parameters":           {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}`, nil},
	"another JSON-RPC":                {`{"jsonrpc":"1.0","id":1,"method":"tools/call","params":{"name":"echo"}}`, nil},
	"no JSON-RPC":                     {`{"id":1,"method":"ping"}`, nil},
	"names in other case":             {`{"JSONRPC":"2.0","Id":1,"METHOD":"tools/call","Params":{"name":"echo"}}`, nil},
	"two methods":                     {`{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call","params":{"name":"echo"}}`, nil},
	"a method and a result":           {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"},"result":{"a":1}}`, nil},
	"a method and an empty result":    {`{"jsonrpc":"2.0","id":1,"method":"ping","result":null}`, nil},
	"a number that is not whole":      {toolCall("1.5", "echo"), nil},
	"a large number":                  {toolCall("9007199254740992", "echo"), nil},
	"a number too large":              {toolCall("1e999", "echo"), nil},
	"a notification":                  {`{"jsonrpc":"2.0","method":"notifications/initialized"}`, nil},
	"a cancel of nothing":             {cancelled("1"), nil},
	"an answer":                       {`{"jsonrpc":"2.0","id":1,"result":{"a":1}}`, nil},
	"an empty answer":                 {`{"jsonrpc":"2.0","id":1,"result":{}}`, nil},
	"a call without an id":            {`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"echo"}}`, nil},
	"an id that is null":              {toolCall("null", "echo"), nil},
}

func withMeta(field string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","_meta":{` + field + `}}}`
}

func TestAlike(t *testing.T) {
	twin := newTwin(t)
	for name, c := range alike {
		t.Run(name, func(t *testing.T) {
			requireAlike(t, see(t, twin.bare, c.body, c.header...), see(t, twin.ours, c.body, c.header...))
		})
	}
	require.Equal(t, []any{decoded(t, `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"00-1-2-01"}]}}`)},
		see(t, twin.ours, alike["a header"].body, alike["a header"].header...).messages)
	require.Len(t, see(t, twin.ours, toolCall("1", "progress")).messages, 4)
}

// What is kept of a caller between its calls, such as which of them failed, is kept by its session.
func TestSessionOfARequest(t *testing.T) {
	var ids []string
	m := mcpserver.NewMCPServer("desk", "1")
	m.AddTool(mcp.NewTool("echo"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		ids = append(ids, mcpserver.ClientSessionFromContext(ctx).SessionID())
		return mcp.NewToolResultText("echo"), nil
	})
	s, err := web.New(m, web.Config{})
	require.NoError(t, err)
	see(t, s.Handler(), toolCall("1", "echo"), "Mcp-Session-Id", "MINE")
	see(t, s.Handler(), toolCall("1", "echo"))
	see(t, s.Handler(), toolCall("1", "echo"))
	require.Len(t, ids, 3)
	require.Equal(t, "MINE", ids[0])
	require.NotEmpty(t, ids[1])
	require.NotEqual(t, ids[1], ids[2], "two clients without a session are taken for one")
}

// FuzzDirect states: whatever message the fence lets pass is answered as mcp-go's own handler does.
func FuzzDirect(f *testing.F) {
	for _, c := range alike {
		header := make(http.Header)
		for i := 0; i < len(c.header); i += 2 {
			header.Set(c.header[i], c.header[i+1])
		}
		f.Add(c.body, header.Get("Mcp-Protocol-Version"), header.Get("Mcp-Session-Id"))
	}
	twin := newTwin(f)
	f.Fuzz(func(t *testing.T, body, version, session string) {
		if !isFor(body) {
			t.Skip()
		}
		header := []string{"Mcp-Protocol-Version", version, "Mcp-Session-Id", session}
		requireAlike(t, see(t, twin.bare, body, header...), see(t, twin.ours, body, header...))
	})
}

// isFor says whether the fence lets a message pass that is no handshake and opens no stream, which differ by design.
func isFor(body string) bool {
	var m struct {
		ID     json.RawMessage
		Method string
		Params json.RawMessage
	}
	if json.Unmarshal([]byte(body), &m) != nil || len(m.ID) > 0 && strings.Contains("{[tf", string(m.ID[:1])) {
		return false
	}
	switch m.Method {
	case "initialize", "subscriptions/listen", "resources/subscribe":
		return false
	}
	return len(body) <= 1<<20
}
