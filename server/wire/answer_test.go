package wire_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server/wire"
)

// hard is text in which every kind of character stands that is written in an own way.
const hard = "<b>&\u2028\u2029\u007f\x00\x1f\t\n\r\b\f\\ \"ü\" 🪁 \xff \xe2\x80 /"

// everything has a value in each field that a result of a tool can have.
func everything() mcp.CallToolResult {
	return mcp.CallToolResult{
		Result: mcp.Result{Meta: meta(map[string]any{"a": 1.5, "progressToken": "p"}), ResultType: mcp.ResultTypeInputRequired},
		MultiRoundTripResult: mcp.MultiRoundTripResult{
			InputRequests: mcp.InputRequests{"name": mcp.NewRootsInputRequest()},
			RequestState:  "state " + hard,
		},
		Content:              []mcp.Content{mcp.NewTextContent(hard), mcp.NewImageContent("aGk=", "image/png")},
		StructuredContent:    map[string]any{"not": "shown"},
		RawStructuredContent: json.RawMessage("{ \"id\":\n 12345678901234567890, \"text\": \"<b>\" }"),
		IsError:              true,
	}
}

func meta(fields map[string]any) *mcp.Meta { return mcp.NewMetaFromMap(maps.Clone(fields)) }

// toolResults are results of tools of all forms.
func toolResults() map[string]mcp.CallToolResult {
	note := mcp.Annotated{Annotations: &mcp.Annotations{Audience: []mcp.Role{mcp.RoleUser}, Priority: new(0.5), LastModified: "2026-01-02"}}
	text := mcp.NewTextContent("text")
	contents := map[string]mcp.Content{
		"text":            mcp.NewTextContent(hard),
		"text, empty":     mcp.TextContent{},
		"text, typed":     mcp.TextContent{Type: "other <" + hard, Text: "a"},
		"text, annotated": mcp.TextContent{Annotated: note, Type: "text", Text: hard},
		"text, with meta": mcp.TextContent{Meta: meta(map[string]any{"a": hard}), Type: "text", Text: hard},
		"text, pointer":   &text,
		"text, nil":       (*mcp.TextContent)(nil),
		"nil":             nil,
		"image":           mcp.NewImageContent("aGk=", "image/png"),
		"image, whole":    mcp.ImageContent{Annotated: note, Meta: meta(map[string]any{"a": 1}), Type: "image", Data: "aGk=", MIMEType: "image/png"},
		"audio":           mcp.NewAudioContent("aGk=", "audio/wav"),
		"link":            mcp.NewResourceLink("kite://a?b=<c>", "name", "words", "text/plain"),
		"link, whole":     mcp.ResourceLink{Annotated: note, Type: "resource_link", URI: "kite://a", Title: hard, Size: new(int64(0))},
		"resource, text":  mcp.NewEmbeddedResource(mcp.TextResourceContents{URI: "kite://a", MIMEType: "text/plain", Text: hard}),
		"resource, bytes": mcp.NewEmbeddedResource(mcp.BlobResourceContents{URI: "kite://a", Blob: "aGk="}),
		"use of a tool":   mcp.ToolUseContent{Type: "tool_use", ID: "1", Name: "get", Input: map[string]any{"a": []any{hard, nil}}},
		"result of a tool": mcp.ToolResultContent{Annotated: note, Type: "tool_result", ToolUseID: "1",
			Content: []mcp.Content{mcp.NewTextContent(hard)}, RawStructuredContent: json.RawMessage(`{ "a" : 1 }`), IsError: true},
	}
	structured := map[string]any{
		"object": map[string]any{"b": hard, "a": []int{1}}, "text": hard, "false": false, "zero": 0, "number": math.MaxInt64,
		"struct": struct {
			A string `json:"a,omitempty"`
			B []byte
		}{B: []byte("b")},
		"raw": json.RawMessage(` {"a" : 1e400 } `), "empty list": []any{}, "nil map": map[string]any(nil),
	}
	raw := map[string]string{
		"object": "\n{ \"b\" : [ 1 , 2.50e+3 ] ,\t\"a\":{}}\r\n", "text": `"\u2028\/\ud83e\ude81 <"`, "null": "null", "number": "-0.0", "twice": `{"a":1,"a":2}`,
		"separators": "\"\u2028\u2029\"", "half a character": `"\ud83e"`, "no UTF-8": "\"\xff\"", "deep": strings.Repeat("[", 5000) + strings.Repeat("]", 5000),
	}
	metas := map[string]*mcp.Meta{
		"empty": {}, "attempts": meta(map[string]any{"io.kitebase/attempts": 2}), "token": {ProgressToken: 7},
		"token twice": {ProgressToken: 7, AdditionalFields: map[string]any{"progressToken": "other"}},
		"many": meta(map[string]any{"b": true, "a": hard, hard: -1, "c": nil, "d": map[string]any{"x": meta(nil)}, "e": 1e21, "f": float32(0.1),
			"g": int64(1), "h": (*mcp.Meta)(nil), "i": meta(map[string]any{"a": 1}), "j": mcp.ResultTypeComplete}),
	}
	all := map[string]mcp.CallToolResult{"nothing": {}, "everything": everything(), "an error": *mcp.NewToolResultError(hard),
		"several contents": {Content: []mcp.Content{text, text, contents["image"]}},
		"no contents":      {Content: []mcp.Content{}},
	}
	for name, content := range contents {
		all["content: "+name] = mcp.CallToolResult{Content: []mcp.Content{content}}
	}
	for name, value := range structured {
		all["structured: "+name] = mcp.CallToolResult{StructuredContent: value}
	}
	for name, text := range raw {
		all["raw: "+name] = mcp.CallToolResult{RawStructuredContent: json.RawMessage(text)}
	}
	for name, m := range metas {
		all["meta: "+name] = mcp.CallToolResult{Result: mcp.Result{Meta: m}}
	}
	return all
}

// Results of tools are written field by field. A field that mcp-go gets one day must not be lost.
func TestEveryFieldIsTried(t *testing.T) {
	whole := everything()
	for _, part := range []any{whole, whole.Result, whole.MultiRoundTripResult} {
		for i := range reflect.TypeOf(part).NumField() {
			require.False(t, reflect.ValueOf(part).Field(i).IsZero(), "%s is not tried", reflect.TypeOf(part).Field(i).Name)
		}
	}
}

func TestAppendResultWritesWhatMarshalJSONSays(t *testing.T) {
	results := map[string]any{"nil": nil, "nil result of a tool": (*mcp.CallToolResult)(nil), "map": map[string]any{"a": hard},
		"tools": mcp.ListToolsResult{Tools: []mcp.Tool{mcp.NewTool("get", mcp.WithDescription(hard))}}}
	for name, result := range toolResults() {
		results[name], results[name+", by pointer"] = result, &result
	}
	for name, result := range results {
		t.Run(name, func(t *testing.T) {
			want, err := json.Marshal(mcp.JSONRPCResponse{JSONRPC: mcp.JSONRPC_VERSION, ID: mcp.NewRequestId("a"), Result: result})
			require.NoError(t, err)
			got, err := wire.AppendResult([]byte("before"), []byte(`"a"`), result)
			require.NoError(t, err)
			requireLine(t, want, got)
		})
	}
}

func TestAppendErrorWritesWhatMarshalJSONSays(t *testing.T) {
	for _, details := range []mcp.JSONRPCErrorDetails{
		{}, {Code: mcp.INTERNAL_ERROR, Message: hard}, {Code: math.MinInt64, Data: map[string]any{"supported": []string{hard}}}, {Data: ""},
	} {
		t.Run(fmt.Sprintf("code %d", details.Code), func(t *testing.T) {
			want, err := json.Marshal(mcp.JSONRPCError{JSONRPC: mcp.JSONRPC_VERSION, ID: mcp.NewRequestId("a"), Error: details})
			require.NoError(t, err)
			got, err := wire.AppendError([]byte("before"), []byte(`"a"`), details)
			require.NoError(t, err)
			requireLine(t, want, got)
		})
	}
}

// requireLine requires that got is what stood before it, and then one line with the JSON of want.
func requireLine(t *testing.T, want, got []byte) {
	t.Helper()
	line, found := bytes.CutPrefix(got, []byte("before"))
	require.True(t, found, "%s", got)
	require.Equal(t, decode(t, want), decode(t, line))
	require.NotContains(t, string(line), "\n")
}

// decode reads JSON with its numbers as they are written.
func decode(t *testing.T, text []byte) (value any) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	require.NoError(t, decoder.Decode(&value), "%s", text)
	require.False(t, decoder.More())
	return value
}

// Numbers beyond 2^53 would be others if they were read, and a client that gets its id in another form may not know it.
func TestTheIDIsWrittenAsItCame(t *testing.T) {
	for id, want := range map[string]string{"12345678901234567890": "12345678901234567890", "1.0": "1.0", `"\u0061<"`: `"\u0061<"`, "": "null"} {
		var raw []byte
		if id != "" {
			raw = []byte(id)
		}
		line, err := wire.AppendResult(nil, raw, mcp.EmptyResult{})
		require.NoError(t, err)
		require.Equal(t, `{"jsonrpc":"2.0","id":`+want+`,"result":{}}`, string(line))
		line, err = wire.AppendError(nil, raw, mcp.JSONRPCErrorDetails{Code: -1, Message: "no"})
		require.NoError(t, err)
		require.Equal(t, `{"jsonrpc":"2.0","id":`+want+`,"error":{"code":-1,"message":"no"}}`, string(line))
	}
}

// Escaped for HTML, each < would cost six characters. U+2028 and U+2029 end no line of JSON, but do for some who read lines.
func TestTextIsEscapedForJSONAlone(t *testing.T) {
	line, err := wire.AppendResult(nil, []byte("1"), mcp.NewToolResultText("<b>&\u2028\u2029</b>"))
	require.NoError(t, err)
	require.Equal(t, `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"<b>&\u2028\u2029</b>"}]}}`, string(line))
}

func TestWhatIsNoJSONFails(t *testing.T) {
	for name, result := range map[string]any{
		"raw, cut off":        &mcp.CallToolResult{RawStructuredContent: json.RawMessage(`{"a":`)},
		"raw, two values":     &mcp.CallToolResult{RawStructuredContent: json.RawMessage(`{} {}`)},
		"raw, space":          &mcp.CallToolResult{RawStructuredContent: json.RawMessage(" ")},
		"raw, a number of Go": &mcp.CallToolResult{RawStructuredContent: json.RawMessage("0x1")},
		"raw, a line in text": &mcp.CallToolResult{RawStructuredContent: json.RawMessage("\"\n\"")},
		"structured content":  &mcp.CallToolResult{StructuredContent: func() {}, Content: []mcp.Content{mcp.NewTextContent("a")}},
		"in a content":        &mcp.CallToolResult{Content: []mcp.Content{mcp.ToolUseContent{Input: math.NaN()}, mcp.AudioContent{}}},
		"in _meta":            &mcp.CallToolResult{Result: mcp.Result{Meta: &mcp.Meta{AdditionalFields: map[string]any{"a": math.NaN(), "b": nil}}}},
		"no result of a tool": func() {},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := json.Marshal(result)
			require.Error(t, err)
			got, err := wire.AppendResult([]byte("before"), []byte("1"), result)
			require.Error(t, err)
			require.Nil(t, got)
		})
	}
	got, err := wire.AppendError(nil, nil, mcp.JSONRPCErrorDetails{Data: func() {}})
	require.Error(t, err)
	require.Nil(t, got)
}
