package resilience_test

import (
	"context"
	"fmt"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/server/resilience"
)

// weather fails the first time that it is called.
func weather() mcpserver.ToolHandlerFunc {
	calls := 0
	return func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if calls++; calls == 1 {
			return nil, &resilience.Failure{What: resilience.Unavailable, Says: "connection reset by the weather service"}
		}
		return mcp.NewToolResultText("sunny"), nil
	}
}

func show(result *mcp.CallToolResult, err error) {
	if err != nil {
		fmt.Println("error:", err)
		return
	}
	fmt.Println(result.Content[0].(mcp.TextContent).Text)
}

func ExampleWrap() {
	tool := mcpserver.ServerTool{
		Tool:    mcp.NewTool("weather", mcp.WithReadOnlyHintAnnotation(true)),
		Handler: weather(),
	}
	guarded, err := resilience.Wrap(tool, resilience.Policy{Upstream: "The weather service", BackoffBase: time.Millisecond})
	if err != nil {
		fmt.Println(err)
		return
	}
	server := mcpserver.NewMCPServer("weather", "1.0.0")
	server.AddTools(guarded)
	show(guarded.Handler(context.Background(), mcp.CallToolRequest{}))
	// Output: sunny
}

func ExampleChain() {
	guard := resilience.Chain(
		resilience.Explain(resilience.ExplainConfig{Upstream: "Weather", ReadOnly: true}),
		resilience.Retry(resilience.RetryConfig{Attempts: -1}),
		resilience.Timeout(time.Second),
	)
	request := mcp.CallToolRequest{}
	request.Params.Name = "weather"
	show(guard(weather())(context.Background(), request))
	// Output: Error: weather failed after 1 try: connection reset by the weather service (WeatherUnavailable). Weather may be slow or down.
}

func ExampleExplain() {
	explain := resilience.Explain(resilience.ExplainConfig{Upstream: "Weather"})
	buggy := func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) { panic("index out of range") }
	request := mcp.CallToolRequest{}
	request.Params.Name = "set_alarm"
	show(explain(buggy)(context.Background(), request))
	// Output: Error: set_alarm failed after 1 try: an internal fault in this server (InternalError). The change may have gone through anyway, so check before you repeat it.
}

func ExampleDedupe() {
	once := resilience.Dedupe(resilience.DedupeConfig{
		Ledger: idempotency.NewLedger(new(idempotency.Memory), idempotency.Config{}),
		Identify: func(request mcp.CallToolRequest) (idempotency.Identity, error) {
			text := request.GetString("message", "")
			return idempotency.Identity{
				Fingerprint: text,
				Key:         func(generation int) string { return fmt.Sprint(generation, text) },
			}, nil
		},
	})
	sent := 0
	send := once(func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		sent++
		return mcp.NewToolResultText("sent under the key " + idempotency.KeyFrom(ctx)), nil
	})
	request := mcp.CallToolRequest{}
	request.Params.Arguments = map[string]any{"message": "hello"}
	show(send(context.Background(), request))
	_, _ = send(context.Background(), request)
	fmt.Println("sent", sent, "time")
	// Output:
	// sent under the key 1hello
	// sent 1 time
}

func ExampleRetry() {
	retry := resilience.Retry(resilience.RetryConfig{Attempts: 3, BackoffBase: time.Millisecond})
	show(retry(weather())(context.Background(), mcp.CallToolRequest{}))
	// Output: sunny
}

func ExampleTimeout() {
	slow := func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	show(resilience.Timeout(10*time.Millisecond)(slow)(context.Background(), mcp.CallToolRequest{}))
	// Output: error: timeout: no response after 0.01s: context deadline exceeded
}
