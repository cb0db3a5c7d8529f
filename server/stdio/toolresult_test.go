package stdio_test

import (
	"context"
	"encoding/json"
	"reflect"
	"testing"
	"testing/synctest"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server/stdio"
)

// Results of tools are written field by field. A field that mcp-go gets one day must not be lost.
func TestToolResultIsWrittenWhole(t *testing.T) {
	everything := mcp.CallToolResult{
		Result: mcp.Result{Meta: mcp.NewMetaFromMap(map[string]any{"a": 1.5}), ResultType: mcp.ResultTypeInputRequired},
		MultiRoundTripResult: mcp.MultiRoundTripResult{
			InputRequests: mcp.InputRequests{"name": mcp.NewRootsInputRequest()},
			RequestState:  "state",
		},
		Content:              []mcp.Content{mcp.NewTextContent("<b>\u2028 & \"ü\"\n"), mcp.NewImageContent("aGk=", "image/png")},
		StructuredContent:    map[string]any{"not": "shown"},
		RawStructuredContent: json.RawMessage("{ \"id\":\n 12345678901234567890, \"text\": \"<b>\" }"),
		IsError:              true,
	}
	for _, part := range []any{everything, everything.Result, everything.MultiRoundTripResult} {
		for i := range reflect.TypeOf(part).NumField() {
			require.False(t, reflect.ValueOf(part).Field(i).IsZero(), "%s is not tried", reflect.TypeOf(part).Field(i).Name)
		}
	}
	decoded := everything
	decoded.RawStructuredContent = nil
	for name, result := range map[string]mcp.CallToolResult{
		"every field": everything, "an object that is not encoded yet": decoded, "nothing": {}, "a text": *mcp.NewToolResultText("done"),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := connect(t, tool(func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
					copied := result
					return &copied, nil
				}), stdio.Config{})
				request := call("1")
				if result.ResultType != "" {
					request = modern("1", "tools/call", `"name":"tool"`) // others are not asked for input
				}
				c.send(request)
				want, err := json.Marshal(result)
				require.NoError(t, err)
				require.JSONEq(t, `{"jsonrpc":"2.0","id":1,"result":`+string(want)+`}`, c.only("1").line)
				require.NotContains(t, c.only("1").line[:len(c.only("1").line)-1], "\n", "one line")
			})
		})
	}
}
