package wire_test

import (
	"encoding/json"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server/wire"
)

// FuzzAppendResult states: what encoding/json takes is the same JSON here, and what it does not take fails.
func FuzzAppendResult(f *testing.F) {
	for _, result := range toolResults() {
		text := ""
		if len(result.Content) > 0 {
			content, _ := result.Content[0].(mcp.TextContent)
			text = content.Text
		}
		f.Add(text, []byte(result.RawStructuredContent))
	}
	f.Add("\xed\xa0\x80\u2028", []byte("{\"\\ud800\":00}"))
	f.Fuzz(func(t *testing.T, text string, raw []byte) {
		result := mcp.CallToolResult{
			Result:               mcp.Result{Meta: &mcp.Meta{AdditionalFields: map[string]any{text: text}}},
			Content:              []mcp.Content{mcp.NewTextContent(text)},
			RawStructuredContent: raw,
		}
		want, refused := json.Marshal(mcp.JSONRPCResponse{JSONRPC: mcp.JSONRPC_VERSION, ID: mcp.NewRequestId("a"), Result: result})
		got, err := wire.AppendResult([]byte("before"), []byte(`"a"`), result)
		if refused != nil {
			require.Error(t, err)
			return
		}
		require.NoError(t, err)
		requireLine(t, want, got)
	})
}
