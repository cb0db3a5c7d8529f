package resilience

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/kitebase/kitebase-mcp/idempotency"
)

// RecordConfig says where [Record] writes.
type RecordConfig struct {
	// Ledger keeps the records. Required.
	Ledger *idempotency.Ledger
	// Group returns what a request acts on, such as a ticket, or "". Required.
	Group func(mcp.CallToolRequest) string
}

// Record returns a layer that writes into the ledger how a call ended which is harmless to repeat, so that one place says
// what was changed. The result is not kept: nobody is answered with it again, and it holds the words of customers. A call
// that certainly changed nothing leaves nothing. That it cannot be written is logged, and no
// failure of the call.
func Record(config RecordConfig) mcpserver.ToolHandlerMiddleware {
	return func(next mcpserver.ToolHandlerFunc) mcpserver.ToolHandlerFunc {
		return func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			result, err := next(ctx, request)
			record := idempotency.Record{
				Tool: request.Params.Name, CallID: callID(request), Group: config.Group(request),
				State: idempotency.Unconfirmed, Attempts: callFrom(ctx).attempts,
			}
			switch {
			case err == nil && result != nil && !result.IsError:
				record.State, record.Evidence = idempotency.Finished, "answer"
			case err != nil && outcomeOf(err) == idempotency.NotDone:
				return result, err
			}
			if failed := config.Ledger.Note(context.WithoutCancel(ctx), record); failed != nil {
				notWritten(ctx, failed)
			}
			return result, err
		}
	}
}
