package resilience_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server/resilience"
)

// everything is a policy with all layers that a read can have.
func everything() resilience.Policy {
	return resilience.Policy{
		Upstream: "Kitebase", RepeatGuard: &resilience.RepeatGuardConfig{}, Bulkhead: &resilience.BulkheadConfig{},
		Circuit: resilience.NewCircuit(resilience.BreakerConfig{}), Budget: resilience.NewRetryBudget(0),
		Fallback: &resilience.FallbackConfig{
			Keep: func(context.Context, mcp.CallToolRequest, resilience.Answer) {},
			Find: func(context.Context, mcp.CallToolRequest) (resilience.Copy, bool) { return resilience.Copy{}, false },
		},
	}
}

func handlerOf(b testing.TB, tool mcpserver.ServerTool, policy resilience.Policy) mcpserver.ToolHandlerFunc {
	guarded, err := resilience.Wrap(tool, policy)
	require.NoError(b, err)
	return guarded.Handler
}

func nothing(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return mcp.NewToolResultText("ok"), nil
}

// BenchmarkGuard is what the guard costs on the happy path of a read, beside the bare handler.
func BenchmarkGuard(b *testing.B) {
	request := message("x")
	request.Params.Name = "get_ticket"
	for name, handler := range map[string]mcpserver.ToolHandlerFunc{
		"bare": nothing, "all layers": handlerOf(b, reads(nothing), everything()),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = handler(b.Context(), request)
			}
		})
	}
}

// BenchmarkRefusal is how fast an open circuit says no.
func BenchmarkRefusal(b *testing.B) {
	policy := everything()
	policy.Circuit = resilience.NewCircuit(resilience.BreakerConfig{Threshold: 1, Cooldown: time.Hour})
	broken := func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) { return nil, reset }
	_, _ = policy.Circuit.Layer(broken)(b.Context(), mcp.CallToolRequest{})
	all := handlerOf(b, reads(broken), policy)
	for name, handler := range map[string]mcpserver.ToolHandlerFunc{
		"the circuit alone": policy.Circuit.Layer(broken), "all layers": all,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = handler(b.Context(), mcp.CallToolRequest{})
			}
		})
	}
}

// BenchmarkBesideAHungTool is the time of a read that takes a millisecond upstream, alone and while another tool hangs for
// everyone, in turns within one run. The ratio of the two is what one broken tool does to the others.
func BenchmarkBesideAHungTool(b *testing.B) {
	quick := handlerOf(b, reads(func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		<-time.After(time.Millisecond)
		return mcp.NewToolResultText("ok"), nil
	}), everything())
	policy := everything()
	policy.AttemptTimeout, policy.CallDeadline = -1, -1
	started := make(chan struct{})
	hung := handlerOf(b, reads(func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		select {
		case started <- struct{}{}:
		case <-ctx.Done():
		}
		<-ctx.Done()
		return nil, ctx.Err()
	}), policy)
	var alone, beside []time.Duration
	for b.Loop() {
		alone = append(alone, measure(b, quick, 20)...)
		ctx, release := context.WithCancel(b.Context())
		done := make(chan struct{})
		for range 128 {
			go func() { _, _ = hung(ctx, mcp.CallToolRequest{}); done <- struct{}{} }()
		}
		for range 64 {
			<-started
		}
		beside = append(beside, measure(b, quick, 20)...)
		release()
		for range 128 {
			<-done
		}
	}
	p99 := func(all []time.Duration) float64 {
		slices.Sort(all)
		return all[len(all)*99/100].Seconds() * 1000
	}
	b.ReportMetric(p99(alone), "p99-alone-ms")
	b.ReportMetric(p99(beside), "p99-beside-ms")
	b.ReportMetric(p99(beside)/p99(alone), "ratio")
}

func measure(b *testing.B, handler mcpserver.ToolHandlerFunc, n int) []time.Duration {
	var took []time.Duration
	for range n {
		began := time.Now()
		result, _ := handler(b.Context(), mcp.CallToolRequest{})
		took = append(took, time.Since(began))
		require.False(b, result.IsError, fmt.Sprint(result.Content))
	}
	return took
}
