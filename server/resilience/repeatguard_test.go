package resilience_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/server/resilience"
)

const notRun = "Error: not run. This exact call already failed 2 times. Don't repeat it: change the input, use another tool, or stop and explain."

var missing = &resilience.Failure{
	What: resilience.NotFound, Says: "No ticket KITE-412. Ticket ids look like KITE-142.", Effect: idempotency.NotDone,
}

func withArguments(arguments map[string]any) option {
	return func(r *mcp.CallToolRequest) { r.Params.Arguments = arguments }
}

func TestRepeatGuard(t *testing.T) {
	guarded := func(t *testing.T, config resilience.RepeatGuardConfig, steps ...func(context.Context) (*mcp.CallToolResult, error)) (caller, *handler) {
		h := does(steps...)
		return guard(t, reads(h.handle), resilience.Policy{RepeatGuard: &config, Attempts: -1}), h
	}
	bubble(t, "the third call is not run", func(t *testing.T) {
		call, h := guarded(t, resilience.RepeatGuardConfig{}, fails(missing))
		for range 2 {
			require.Equal(t, "Error: No ticket KITE-412. Ticket ids look like KITE-142.", text(call(t.Context())))
		}
		for range 3 {
			blocked := call(t.Context())
			require.Equal(t, notRun, text(blocked))
			require.Equal(t, resilience.ErrorInfo{
				Kind: resilience.NotFound, ModelCanFix: true, Next: "change_input", Outcome: "not_done",
			}, info(t, blocked))
		}
		require.Equal(t, 2, h.runs)
	})
	bubble(t, "without the guard it is", func(t *testing.T) {
		h := does(fails(missing))
		call := guard(t, reads(h.handle), resilience.Policy{})
		for range 5 {
			call(t.Context())
		}
		require.Equal(t, 5, h.runs)
	})
	bubble(t, "bad arguments count too, although nothing was asked", func(t *testing.T) {
		call, h := guarded(t, resilience.RepeatGuardConfig{}, fails(&resilience.Failure{
			What: resilience.Invalid, Says: "ticket_id is missing.", NotRun: true, Effect: idempotency.NotDone}))
		for range 3 {
			call(t.Context())
		}
		require.Equal(t, 2, h.runs)
	})

	resets := map[string]func(context.Context) (*mcp.CallToolResult, error){
		"a success":                           succeeds,
		"another kind of failure":             fails(&resilience.Failure{What: resilience.Denied, Effect: idempotency.NotDone}),
		"a transient failure":                 fails(reset),
		"an answer that the caller cut short": fails(&resilience.Failure{What: resilience.Canceled}),
	}
	for name, step := range resets {
		bubble(t, name+" resets it", func(t *testing.T) {
			call, h := guarded(t, resilience.RepeatGuardConfig{}, fails(missing), step, fails(missing))
			for range 4 {
				require.NotEqual(t, notRun, text(call(t.Context())))
			}
			require.Equal(t, notRun, text(call(t.Context())))
			require.Equal(t, 4, h.runs)
		})
	}
	bubble(t, "so does the time", func(t *testing.T) {
		call, h := guarded(t, resilience.RepeatGuardConfig{}, fails(missing))
		call(t.Context())
		time.Sleep(2 * time.Minute)
		call(t.Context())
		call(t.Context())
		require.Equal(t, 3, h.runs, "the first one was too long ago")
		time.Sleep(2*time.Minute - 1)
		require.Equal(t, notRun, text(call(t.Context())))
		time.Sleep(time.Nanosecond)
		require.NotEqual(t, notRun, text(call(t.Context())))
		require.Equal(t, 4, h.runs)
	})
	bubble(t, "transient failures never block", func(t *testing.T) {
		for _, kind := range []resilience.Kind{resilience.Unavailable, resilience.TimedOut, resilience.BadAnswer, resilience.RateLimited,
			resilience.InProgress, resilience.Held, resilience.CircuitOpen, resilience.Busy, resilience.Canceled, resilience.Internal} {
			call, h := guarded(t, resilience.RepeatGuardConfig{}, fails(&resilience.Failure{What: kind, Wait: time.Hour}))
			for range 10 {
				call(t.Context())
			}
			require.Equal(t, 10, h.runs, kind)
		}
	})
	bubble(t, "the same arguments in another order are the same call, others are not", func(t *testing.T) {
		call, h := guarded(t, resilience.RepeatGuardConfig{}, fails(missing))
		one := map[string]any{"a": 1.0, "b": map[string]any{"c": "x", "d": nil}}
		call(t.Context(), withArguments(one))
		call(t.Context(), withArguments(map[string]any{"b": map[string]any{"d": nil, "c": "x"}, "a": 1.0}))
		require.Equal(t, notRun, text(call(t.Context(), withArguments(one))))
		for _, other := range []map[string]any{nil, {"a": 1.0}, {"a": "1", "b": one["b"]}, {"a": 1.0, "b": map[string]any{"c": "y", "d": nil}}} {
			require.NotEqual(t, notRun, text(call(t.Context(), withArguments(other))))
		}
		require.Equal(t, 6, h.runs)
	})
	bubble(t, "one caller is not blocked for another, nor one tool", func(t *testing.T) {
		by := "one"
		config := resilience.RepeatGuardConfig{Caller: func(context.Context, mcp.CallToolRequest) string { return by }}
		h := does(fails(missing))
		layer := resilience.RepeatGuard(config)(h.handle)
		call := func(tool string) error {
			request := mcp.CallToolRequest{}
			request.Params.Name = tool
			_, err := layer(t.Context(), request)
			return err
		}
		_, _ = call("get_ticket"), call("get_ticket")
		require.ErrorContains(t, call("get_ticket"), notRun)
		require.ErrorIs(t, call("search_tickets"), missing)
		by = "two"
		require.ErrorIs(t, call("get_ticket"), missing)
		require.Equal(t, 4, h.runs)
	})
}

// A model that makes up ever new calls must not fill the memory, and long messages must not either.
func TestRepeatGuardIsBounded(t *testing.T) {
	h := does(fails(missing))
	layer := resilience.RepeatGuard(resilience.RepeatGuardConfig{Calls: 100})(h.handle)
	call := func(i int) error {
		_, err := layer(t.Context(), message(fmt.Sprint(i, strings.Repeat("x", 64<<10))))
		return err
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range 200 {
		require.ErrorIs(t, call(i), missing)
	}
	h.keys = nil
	runtime.GC()
	runtime.ReadMemStats(&after)
	require.Less(t, int64(after.HeapAlloc)-int64(before.HeapAlloc), int64(1<<20), "100 calls of 64 KiB are 6 MiB")

	require.ErrorIs(t, call(199), missing)
	require.ErrorContains(t, call(199), notRun)
	require.ErrorIs(t, call(0), missing, "the first ones are forgotten")
	require.ErrorIs(t, call(0), missing)
	require.ErrorContains(t, call(0), notRun)
}
