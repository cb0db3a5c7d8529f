package wire_test

import (
	"encoding/json"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/kitebase/kitebase-mcp/server/wire"
)

// BenchmarkAppendResult compares the answer of a tool, an object with its text, with what encoding/json makes of it.
func BenchmarkAppendResult(b *testing.B) {
	object := `{"id":"KITE-142","title":"Customer locked out after SSO change","messages":[`
	for range 5 {
		object += `{"id":"msg_1","author":"customer","body":"We changed our SSO provider <yesterday> and now \"nobody\" gets in.\nPlease help."},`
	}
	object += `{"id":"msg_2"}]}`
	result := mcp.CallToolResult{
		Result:               mcp.Result{Meta: mcp.NewMetaFromMap(map[string]any{"io.kitebase/attempts": 1})},
		Content:              []mcp.Content{mcp.NewTextContent(object)},
		RawStructuredContent: json.RawMessage(object),
	}
	b.Run("wire", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := wire.AppendResult(nil, []byte("1"), &result); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encoding-json", func(b *testing.B) {
		b.ReportAllocs()
		response := mcp.JSONRPCResponse{JSONRPC: mcp.JSONRPC_VERSION, ID: mcp.NewRequestId(1), Result: result}
		for b.Loop() {
			if _, err := json.Marshal(response); err != nil {
				b.Fatal(err)
			}
		}
	})
}
