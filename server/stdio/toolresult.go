package stdio

import (
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"
)

// toolResult is a result of a tool as it is written. The MarshalJSON of mcp.CallToolResult makes a map of it, and what it
// returns is copied and checked again on its way into the line, twice what RawStructuredContent holds: a fifth of the CPU
// time of a call.
type toolResult struct {
	Meta              *mcp.Meta         `json:"_meta,omitempty"`
	Content           []mcp.Content     `json:"content"`
	InputRequests     mcp.InputRequests `json:"inputRequests,omitempty"`
	IsError           bool              `json:"isError,omitempty"`
	RequestState      string            `json:"requestState,omitempty"`
	ResultType        mcp.ResultType    `json:"resultType,omitempty"`
	StructuredContent any               `json:"structuredContent,omitempty"`
}

// written returns what is encoded of a result: the same JSON, for less.
func written(result any) any {
	var r *mcp.CallToolResult
	switch result := result.(type) {
	case mcp.CallToolResult:
		r = &result
	case *mcp.CallToolResult:
		r = result
	}
	if r == nil {
		return result
	}
	w := toolResult{
		Meta: r.Meta, Content: r.Content, InputRequests: r.InputRequests, IsError: r.IsError, RequestState: r.RequestState,
		ResultType: r.ResultType, StructuredContent: r.StructuredContent,
	}
	if w.Content == nil {
		w.Content = []mcp.Content{}
	}
	if len(r.RawStructuredContent) > 0 {
		w.StructuredContent = json.RawMessage(r.RawStructuredContent)
	}
	return &w
}
