package resilience_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/server/resilience"
)

const removed = "Invisible or control characters were removed from the text of this result."

// returns is a handler that gives always the same result, as a cache might.
func returns(result *mcp.CallToolResult) func(context.Context) (*mcp.CallToolResult, error) {
	return func(context.Context) (*mcp.CallToolResult, error) { return result, nil }
}

// A handler may pass on what somebody wrote; a model reads only what people can read.
func TestResultsAreReadable(t *testing.T) {
	object := func(text, structured string) *mcp.CallToolResult {
		return &mcp.CallToolResult{Content: []mcp.Content{mcp.NewTextContent(text)}, RawStructuredContent: json.RawMessage(structured)}
	}
	for name, test := range map[string]struct {
		given      *mcp.CallToolResult
		texts      []string
		structured string
	}{
		"an object and its text": {
			object("Mind.\n{\"a\":\"x\u200b\",\"note\":\"Mind.\"}", "{\"a\":\"x\u200b\",\"note\":\"Mind.\"}"),
			[]string{removed + " Mind.\n" + `{"note":"` + removed + ` Mind.","cleaned":true,"a":"x"}`},
			`{"note":"` + removed + ` Mind.","cleaned":true,"a":"x"}`,
		},
		"escapes": {
			object(`{"a":"\u001b[31mx\u001b[0m"}`, `{"a":"\u001b[31mx\u001b[0m"}`),
			[]string{removed + "\n" + `{"note":"` + removed + `","cleaned":true,"a":"x"}`}, `{"note":"` + removed + `","cleaned":true,"a":"x"}`,
		},
		"a value": {
			&mcp.CallToolResult{Content: []mcp.Content{mcp.NewTextContent("x")}, StructuredContent: map[string]any{"a": "x\u202e"}},
			[]string{removed + "\n" + `{"note":"` + removed + `","cleaned":true,"a":"x"}`}, `{"note":"` + removed + `","cleaned":true,"a":"x"}`,
		},
		"a text": {
			&mcp.CallToolResult{Content: []mcp.Content{mcp.NewTextContent("x\u200by\x1b[2K"), mcp.NewTextContent("z")}},
			[]string{removed, "xy", "z"}, "",
		},
		"a failure": {
			&mcp.CallToolResult{IsError: true, Content: []mcp.Content{mcp.NewTextContent("Error: x\u200by")}},
			[]string{"Error: xy"}, "",
		},
		"what is clean": {
			object("{\"a\":\"नमस्ते\\n👩‍🚀\"}", "{\"a\":\"नमस्ते\\n👩‍🚀\"}"), []string{"{\"a\":\"नमस्ते\\n👩‍🚀\"}"}, "{\"a\":\"नमस्ते\\n👩‍🚀\"}",
		},
		"an image": {&mcp.CallToolResult{Content: []mcp.Content{mcp.NewImageContent("AA==", "image/png")}}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			before, err := json.Marshal(test.given)
			require.NoError(t, err)
			got := guard(t, reads(does(returns(test.given)).handle), resilience.Policy{})(t.Context())
			var texts []string
			for _, content := range got.Content {
				if text, ok := content.(mcp.TextContent); ok {
					texts = append(texts, text.Text)
				}
			}
			require.Equal(t, test.texts, texts)
			if test.structured != "" {
				require.JSONEq(t, test.structured, string(got.RawStructuredContent))
			}
			after, err := json.Marshal(test.given)
			require.NoError(t, err)
			require.Equal(t, string(before), string(after), "the handler's result is its own")
		})
	}
}

// A ledger may have been written by an earlier release, which kept results as they came.
func TestReplaysAreReadable(t *testing.T) {
	store := new(idempotency.Memory)
	ledger := idempotency.NewLedger(store, idempotency.Config{})
	id := idempotency.Identity{Fingerprint: "f", Key: func(int) string { return "k" }}
	record, err := ledger.Claim(t.Context(), id, idempotency.Record{})
	require.NoError(t, err)
	record.State, record.LastAt = idempotency.Finished, time.Now()
	record.Result = []byte(`{"content":[{"type":"text","text":"{\"sent_to\":\"North\\u001b[8mwind\\u200b\"}"}],"structuredContent":{"sent_to":"North\u001b[8mwind` + "\u200b" + `"}}`)
	require.NoError(t, ledger.Save(t.Context(), &record))

	handler := does(succeeds)
	got := guard(t, sends(handler.handle), resilience.Policy{Keyed: yes, Dedupe: &resilience.DedupeConfig{
		Ledger: ledger, Identify: func(mcp.CallToolRequest) (idempotency.Identity, error) { return id, nil },
	}})(t.Context())
	require.Zero(t, handler.runs)
	require.Contains(t, string(got.RawStructuredContent), `"sent_to":"Northwind"`)
	require.Contains(t, string(got.RawStructuredContent), `"cleaned":true`)
	require.Contains(t, text(got), removed+" Already done")
	require.Contains(t, text(got), `"sent_to":"Northwind"`)
}
