package resilience_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/server/resilience"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The tools of the tests, by what their annotations promise.
func reads(handler mcpserver.ToolHandlerFunc) mcpserver.ServerTool {
	return mcpserver.ServerTool{Handler: handler, Tool: mcp.NewTool("get_ticket",
		mcp.WithReadOnlyHintAnnotation(true), mcp.WithIdempotentHintAnnotation(true))}
}

func sets(handler mcpserver.ToolHandlerFunc) mcpserver.ServerTool {
	return mcpserver.ServerTool{Handler: handler, Tool: mcp.NewTool("assign_ticket",
		mcp.WithReadOnlyHintAnnotation(false), mcp.WithIdempotentHintAnnotation(true))}
}

func sends(handler mcpserver.ToolHandlerFunc) mcpserver.ServerTool {
	return mcpserver.ServerTool{Handler: handler, Tool: mcp.NewTool("reply_to_customer",
		mcp.WithReadOnlyHintAnnotation(false), mcp.WithIdempotentHintAnnotation(false))}
}

// guard wraps tool; a policy that is refused fails the test.
func guard(t *testing.T, tool mcpserver.ServerTool, policy resilience.Policy) caller {
	t.Helper()
	if policy.Upstream == "" {
		policy.Upstream = "Kitebase"
	}
	guarded, err := resilience.Wrap(tool, policy)
	require.NoError(t, err)
	return func(ctx context.Context, options ...option) *mcp.CallToolResult {
		request := mcp.CallToolRequest{}
		request.Params.Name = tool.Tool.Name
		for _, option := range options {
			option(&request)
		}
		result, err := guarded.Handler(ctx, request)
		require.NoError(t, err, "an error that leaves the guard becomes a protocol error")
		require.NotNil(t, result)
		return result
	}
}

func yes() bool { return true }

func inMemory() *idempotency.Ledger {
	return idempotency.NewLedger(new(idempotency.Memory), idempotency.Config{})
}

// caller calls the guarded tool.
type caller func(context.Context, ...option) *mcp.CallToolResult

type option func(*mcp.CallToolRequest)

func withMessage(message string) option {
	return func(r *mcp.CallToolRequest) { r.Params.Arguments = map[string]any{"message": message} }
}

func withDeadline(ms float64) option {
	return func(r *mcp.CallToolRequest) {
		r.Params.Meta = &mcp.Meta{AdditionalFields: map[string]any{resilience.MetaDeadline: ms}}
	}
}

// handler counts its runs and does what the steps say, one after the other; the last one repeats.
type handler struct {
	mu    sync.Mutex
	runs  int
	steps []func(context.Context) (*mcp.CallToolResult, error)
	keys  []string
}

func (h *handler) handle(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	h.mu.Lock()
	step := h.steps[min(h.runs, len(h.steps)-1)]
	h.runs++
	h.keys = append(h.keys, idempotency.KeyFrom(ctx))
	h.mu.Unlock()
	return step(ctx)
}

func does(steps ...func(context.Context) (*mcp.CallToolResult, error)) *handler {
	return &handler{steps: steps}
}

func succeeds(context.Context) (*mcp.CallToolResult, error) {
	return &mcp.CallToolResult{
		RawStructuredContent: json.RawMessage(`{"reply_id":"rpl_001"}`),
		Content:              []mcp.Content{mcp.NewTextContent(`{"reply_id":"rpl_001"}`)},
	}, nil
}

func fails(err error) func(context.Context) (*mcp.CallToolResult, error) {
	return func(context.Context) (*mcp.CallToolResult, error) { return nil, err }
}

func hangs(ctx context.Context) (*mcp.CallToolResult, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// cut calls its being cut short a broken connection, as HTTP clients do.
func cut(ctx context.Context) (*mcp.CallToolResult, error) {
	<-ctx.Done()
	return nil, reset
}

func panics(context.Context) (*mcp.CallToolResult, error) { panic("secret detail") }

func takes(d time.Duration, then func(context.Context) (*mcp.CallToolResult, error)) func(context.Context) (*mcp.CallToolResult, error) {
	return func(ctx context.Context) (*mcp.CallToolResult, error) {
		select {
		case <-time.After(d):
			return then(ctx)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

var (
	reset = &resilience.Failure{What: resilience.Unavailable, Says: "connection reset by Kitebase"}
	down  = &resilience.Failure{What: resilience.Unavailable, Says: "no connection to Kitebase", Effect: idempotency.NotDone}
)

func text(result *mcp.CallToolResult) string {
	return result.Content[0].(mcp.TextContent).Text
}

func info(t *testing.T, result *mcp.CallToolResult) resilience.ErrorInfo {
	t.Helper()
	require.True(t, result.IsError, "%v", result.Content)
	require.Nil(t, result.StructuredContent, "strict clients hold errors against the output schema")
	require.Empty(t, result.RawStructuredContent)
	return result.Meta.AdditionalFields[resilience.MetaError].(resilience.ErrorInfo)
}

func attempts(result *mcp.CallToolResult) any {
	return result.Meta.AdditionalFields[resilience.MetaAttempts]
}
