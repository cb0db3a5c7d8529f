package resilience

import (
	"context"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
)

// clockSkew is how far the clock of the upstream may be behind ours when its word on a repeat is judged by its time.
const clockSkew = 5 * time.Minute

// echoed returns the layer that marks a success as a repeat when the upstream itself had seen the key before this call: a
// result that says it is replayed although it took a single request, or of a time long before the call. replayed returns of
// when the first one is. Without the mark, a reply that nobody sent now would be told as sent now.
func echoed(replayed func(*mcp.CallToolResult) (time.Time, bool)) mcpserver.ToolHandlerMiddleware {
	return func(next mcpserver.ToolHandlerFunc) mcpserver.ToolHandlerFunc {
		return func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			before := callFrom(ctx).attempts
			result, err := next(ctx, request)
			if err != nil || result == nil {
				return result, err
			}
			first, ok := replayed(result)
			c := callFrom(ctx)
			if !ok || c.attempts > before+1 && !first.Before(c.arrived.Add(-clockSkew)) {
				return result, nil
			}
			return asEcho(result, first), nil
		}
	}
}

// asEcho marks a result as that of an earlier call.
func asEcho(result *mcp.CallToolResult, first time.Time) *mcp.CallToolResult {
	first = first.UTC().Truncate(time.Second)
	annotate(result, mark{Note: alreadyDone("call", first), AlreadySent: true, FirstSentAt: &first})
	return withMeta(result, MetaReplayed, true)
}

// isEcho reports whether the result was marked as a repeat.
func isEcho(result *mcp.CallToolResult) bool {
	return result.Meta != nil && result.Meta.AdditionalFields[MetaReplayed] == true
}
