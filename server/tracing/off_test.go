package tracing_test

import (
	"context"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server/resilience"
	"github.com/kitebase/kitebase-mcp/server/tracing"
)

// Off is free: the middleware is the handler itself, and nothing else takes memory.
func TestOffCostsNothing(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "")
	off := tracing.Start(tracing.Config{})
	require.Nil(t, off)
	require.Nil(t, off.Headers())
	result := &mcp.CallToolResult{}
	handler := off.Call(off.Attempt(func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) { return result, nil }))
	ctx, request := t.Context(), mcp.CallToolRequest{}
	require.Zero(t, testing.AllocsPerRun(100, func() {
		_, _ = handler(ctx, request) // it cannot fail
		off.Observe(ctx, resilience.Observation{})
		_, ended := off.Look(ctx, "reply_to_customer")
		ended("done")
	}))
	off.Close()
}

func BenchmarkCall(b *testing.B) {
	handler := func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) { return nil, nil }
	for name, traces := range map[string]*tracing.Tracing{"off": nil, "on": tracing.StartWith(tracing.Config{}, new(delivery))} {
		b.Run(name, func(b *testing.B) {
			traced := traces.Call(traces.Attempt(handler))
			b.ReportAllocs()
			for b.Loop() {
				_, _ = traced(b.Context(), mcp.CallToolRequest{})
			}
		})
		traces.Close()
	}
}
