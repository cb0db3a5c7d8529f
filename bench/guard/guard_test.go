package guard_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/circuitbreaker"
	"github.com/failsafe-go/failsafe-go/retrypolicy"
	"github.com/failsafe-go/failsafe-go/timeout"
	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
	"github.com/sony/gobreaker/v2"
	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server/resilience"
)

const (
	attempts       = 2
	attemptTimeout = 5 * time.Second
)

func nothing(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return mcp.NewToolResultText("ok"), nil
}

// guarded has the layers of a read, as the server puts them around get_ticket.
func guarded(tb testing.TB, next mcpserver.ToolHandlerFunc) mcpserver.ToolHandlerFunc {
	tool := mcpserver.ServerTool{Tool: mcp.NewTool("get_ticket", mcp.WithReadOnlyHintAnnotation(true)), Handler: next}
	wrapped, err := resilience.Wrap(tool, resilience.Policy{
		Upstream: "Kitebase", Attempts: attempts, AttemptTimeout: attemptTimeout,
		Budget: resilience.NewRetryBudget(0), Circuit: resilience.NewCircuit(resilience.BreakerConfig{}),
		Bulkhead: &resilience.BulkheadConfig{}, RepeatGuard: &resilience.RepeatGuardConfig{},
		Fallback: &resilience.FallbackConfig{
			Keep: func(context.Context, mcp.CallToolRequest, resilience.Answer) {},
			Find: func(context.Context, mcp.CallToolRequest) (resilience.Copy, bool) { return resilience.Copy{}, false },
		},
		Observe: func(context.Context, resilience.Observation) {},
	})
	require.NoError(tb, err)
	return wrapped.Handler
}

// failsafed has a circuit breaker around retries around a timeout, by failsafe-go.
func failsafed(next mcpserver.ToolHandlerFunc) mcpserver.ToolHandlerFunc {
	executor := failsafe.With[*mcp.CallToolResult](
		circuitbreaker.NewBuilder[*mcp.CallToolResult]().WithFailureThreshold(5).WithDelay(30*time.Second).Build(),
		retrypolicy.NewBuilder[*mcp.CallToolResult]().WithMaxAttempts(attempts).WithBackoff(100*time.Millisecond, 2*time.Second).Build(),
		timeout.New[*mcp.CallToolResult](attemptTimeout),
	)
	return func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return executor.WithContext(ctx).GetWithExecution(func(e failsafe.Execution[*mcp.CallToolResult]) (*mcp.CallToolResult, error) {
			return next(e.Context(), request)
		})
	}
}

// byHand has the same, of gobreaker, backoff and context.WithTimeout.
func byHand(next mcpserver.ToolHandlerFunc) mcpserver.ToolHandlerFunc {
	breaker := gobreaker.NewCircuitBreaker[*mcp.CallToolResult](gobreaker.Settings{Timeout: 30 * time.Second})
	return func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return breaker.Execute(func() (result *mcp.CallToolResult, err error) {
			wait := backoff.WithContext(backoff.WithMaxRetries(backoff.NewExponentialBackOff(), attempts-1), ctx)
			err = backoff.Retry(func() error {
				attempt, cancel := context.WithTimeout(ctx, attemptTimeout)
				defer cancel()
				result, err = next(attempt, request)
				return err
			}, wait)
			return result, err
		})
	}
}

func request() mcp.CallToolRequest {
	return mcp.CallToolRequest{Params: mcp.CallToolParams{
		Name: "get_ticket", Arguments: map[string]any{"ticket_id": "KITE-142"}, RawArguments: []byte(`{"ticket_id":"KITE-142"}`),
	}}
}

// BenchmarkGuard reports the time of one call by each, and the ratio to failsafe-go's: medians of turns of a hundred calls, which
// are short enough that most are not interrupted,
// with the quartiles of the ratio. The time of the benchmark itself means nothing.
func BenchmarkGuard(b *testing.B) {
	const bare, ours, theirs, hand, turn = 0, 1, 2, 3, 100
	handlers := []mcpserver.ToolHandlerFunc{nothing, guarded(b, nothing), failsafed(nothing), byHand(nothing)}
	took := make([][]float64, len(handlers)) // ns a call, turn by turn
	call := request()
	for b.Loop() {
		for i, handler := range handlers {
			began := time.Now()
			for range turn {
				_, _ = handler(b.Context(), call)
			}
			took[i] = append(took[i], float64(time.Since(began).Nanoseconds())/turn)
		}
	}
	ratios := make([]float64, len(took[ours]))
	for i := range ratios {
		ratios[i] = took[ours][i] / took[theirs][i]
	}
	b.ReportMetric(median(took[bare]), "bare-ns")
	b.ReportMetric(median(took[ours]), "guard-ns")
	b.ReportMetric(median(took[theirs]), "failsafe-go-ns")
	b.ReportMetric(median(took[hand]), "by-hand-ns")
	b.ReportMetric(median(ratios), "guard/failsafe-go")
	b.ReportMetric(ratios[len(ratios)/4], "first-quartile") // median has sorted them
	b.ReportMetric(ratios[len(ratios)*3/4], "third-quartile")
}

// BenchmarkMemory has the bytes and allocations of a call by each.
func BenchmarkMemory(b *testing.B) {
	for _, each := range []struct {
		name    string
		handler mcpserver.ToolHandlerFunc
	}{{"bare", nothing}, {"guard", guarded(b, nothing)}, {"failsafe-go", failsafed(nothing)}, {"by hand", byHand(nothing)}} {
		b.Run(each.name, func(b *testing.B) {
			call := request()
			b.ReportAllocs()
			for b.Loop() {
				_, _ = each.handler(b.Context(), call)
			}
		})
	}
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// TestAllocations holds the guard to at most ten allocations above the bare handler.
func TestAllocations(t *testing.T) {
	call := request()
	count := func(handler mcpserver.ToolHandlerFunc) float64 {
		return testing.AllocsPerRun(1000, func() { _, _ = handler(t.Context(), call) })
	}
	require.LessOrEqual(t, count(guarded(t, nothing))-count(nothing), 10.0)
}

// TestAlike shows that what is compared does the same: it calls the handler once, and again after a transient failure.
func TestAlike(t *testing.T) {
	for name, wrap := range map[string]func(mcpserver.ToolHandlerFunc) mcpserver.ToolHandlerFunc{
		"guard":       func(next mcpserver.ToolHandlerFunc) mcpserver.ToolHandlerFunc { return guarded(t, next) },
		"failsafe-go": failsafed, "by hand": byHand,
	} {
		t.Run(name, func(t *testing.T) {
			calls := 0
			handler := wrap(func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				calls++
				_, limited := ctx.Deadline()
				require.True(t, limited || name == "failsafe-go", "failsafe-go ends the context by itself")
				if calls == 1 {
					return nil, &resilience.Failure{What: resilience.Unavailable}
				}
				return mcp.NewToolResultText("ok"), nil
			})
			result, err := handler(t.Context(), request())
			require.NoError(t, err)
			require.False(t, result.IsError)
			require.Equal(t, 2, calls)
		})
	}
}
