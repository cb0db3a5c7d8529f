package resilience_test

import (
	"context"
	"errors"
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

// outage never answers.
func outage(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return nil, &resilience.Failure{What: resilience.Unavailable, Says: "connection reset by the weather service"}
}

func ExampleCircuit() {
	circuit := resilience.NewCircuit(resilience.BreakerConfig{Threshold: 2, Cooldown: time.Minute})
	guarded := circuit.Layer(outage)
	for range 3 {
		_, err := guarded(context.Background(), mcp.CallToolRequest{})
		var failure *resilience.Failure
		if errors.As(err, &failure) {
			fmt.Println(failure.What, circuit.Status().State)
		}
	}
	// Output:
	// unavailable closed
	// unavailable open
	// circuit_open open
}

func ExampleRetryBudget() {
	budget := resilience.NewRetryBudget(10) // shared by all tools of the upstream
	retry := resilience.Retry(resilience.RetryConfig{Budget: budget, BackoffBase: time.Microsecond})
	asked := 0
	guarded := retry(func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		asked++
		return outage(ctx, request)
	})
	for range 20 {
		_, _ = guarded(context.Background(), mcp.CallToolRequest{})
	}
	fmt.Println("20 calls,", asked, "requests")
	// Output: 20 calls, 22 requests
}

func ExampleBulkhead() {
	one := resilience.Bulkhead(resilience.BulkheadConfig{Calls: 1, Queue: -1})
	entered, leave := make(chan bool), make(chan bool)
	guarded := one(func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		entered <- true
		<-leave
		return mcp.NewToolResultText("sunny"), nil
	})
	go func() { _, _ = guarded(context.Background(), mcp.CallToolRequest{}); entered <- false }()
	<-entered
	show(guarded(context.Background(), mcp.CallToolRequest{}))
	leave <- true
	<-entered
	// Output: error: busy: 1 call of this tool is under way and it can take no more
}

func ExampleFallback() {
	var seen resilience.Copy
	fallback := resilience.Fallback(resilience.FallbackConfig{
		Keep: func(_ context.Context, _ mcp.CallToolRequest, good resilience.Answer) {
			seen = resilience.Copy{Result: good.Result, AsOf: time.Date(2026, 3, 1, 14, 2, 0, 0, time.UTC), ServedBy: "copy"}
		},
		Find: func(context.Context, mcp.CallToolRequest) (resilience.Copy, bool) { return seen, seen.Result != nil },
	})
	up := fallback(func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("sunny"), nil
	})
	down := fallback(outage)
	show(down(context.Background(), mcp.CallToolRequest{}))
	show(up(context.Background(), mcp.CallToolRequest{}))
	copied, _ := down(context.Background(), mcp.CallToolRequest{})
	fmt.Println(copied.Meta.AdditionalFields[resilience.MetaServedBy], copied.Meta.AdditionalFields[resilience.MetaAsOf])
	fmt.Println(copied.Content[1].(mcp.TextContent).Text)
	// Output:
	// error: unavailable: connection reset by the weather service
	// sunny
	// copy 2026-03-01T14:02:00Z
	// sunny
}

func ExampleRepeatGuard() {
	guard := resilience.Chain(
		resilience.Explain(resilience.ExplainConfig{ReadOnly: true}),
		resilience.RepeatGuard(resilience.RepeatGuardConfig{}),
	)
	guarded := guard(func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return nil, &resilience.Failure{What: resilience.NotFound, Says: "There is no city Atlantis."}
	})
	for range 3 {
		show(guarded(context.Background(), mcp.CallToolRequest{}))
	}
	// Output:
	// Error: There is no city Atlantis.
	// Error: There is no city Atlantis.
	// Error: not run. This exact call already failed 2 times. Don't repeat it: change the input, use another tool, or stop and explain.
}
