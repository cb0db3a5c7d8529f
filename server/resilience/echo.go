package resilience

import (
	"context"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
)

// echoed returns the layer that marks a success as a repeat when the upstream itself had seen the key before this call: a
// result that says it is replayed although it took a single request. replayed returns of when the first one is.
// Without the mark, a reply that nobody sent now would be told as sent now.
func echoed(replayed func(*mcp.CallToolResult) (time.Time, bool)) mcpserver.ToolHandlerMiddleware {
	return func(next mcpserver.ToolHandlerFunc) mcpserver.ToolHandlerFunc {
		return func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			before := callFrom(ctx).attempts
			result, err := next(ctx, request)
			if err != nil || result == nil || callFrom(ctx).attempts != before+1 {
				return result, err
			}
			first, ok := replayed(result)
			if !ok {
				return result, nil
			}
			first = first.UTC().Truncate(time.Second)
			annotate(result, mark{Note: alreadyDone("call", first), AlreadySent: true, FirstSentAt: &first})
			return withMeta(result, MetaReplayed, true), nil
		}
	}
}

// isEcho reports whether the result was marked as a repeat.
func isEcho(result *mcp.CallToolResult) bool {
	return result.Meta != nil && result.Meta.AdditionalFields[MetaReplayed] == true
}
