package resilience_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server/resilience"
)

// The context that a handler gets must behave like one of context.WithDeadline, whatever it is asked first.
func TestAttemptContext(t *testing.T) {
	const limit = 200 * time.Millisecond
	type key struct{}
	try := func(t *testing.T, ctx context.Context, attempt func(context.Context)) {
		handler := func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			attempt(ctx)
			return mcp.NewToolResultText("ok"), nil
		}
		guard(t, reads(handler), resilience.Policy{AttemptTimeout: limit})(ctx)
	}
	asked := map[string]func(context.Context){
		"nothing before": func(context.Context) {},
		"Err before":     func(ctx context.Context) { _ = ctx.Err() },
		"Done before":    func(ctx context.Context) { _ = ctx.Done() },
	}
	for name, ask := range asked {
		t.Run("ends at its deadline, "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				try(t, t.Context(), func(ctx context.Context) {
					end, ok := ctx.Deadline()
					require.True(t, ok)
					require.Equal(t, time.Now().Add(limit), end)
					ask(ctx)
					require.NoError(t, ctx.Err())
					time.Sleep(limit - 1)
					require.NoError(t, ctx.Err())
					time.Sleep(time.Nanosecond)
					synctest.Wait()
					require.Equal(t, context.DeadlineExceeded, ctx.Err())
					require.Equal(t, context.DeadlineExceeded, context.Cause(ctx))
					<-ctx.Done()
				})
			})
		})
		t.Run("ends with its caller, "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				caller, leave := context.WithCancelCause(t.Context())
				gone := errors.New("gone")
				try(t, caller, func(ctx context.Context) {
					ask(ctx)
					leave(gone)
					require.Equal(t, context.Canceled, ctx.Err())
					require.Equal(t, gone, context.Cause(ctx))
					<-ctx.Done()
				})
			})
		})
		t.Run("ends with its attempt, "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var kept context.Context
				try(t, t.Context(), func(ctx context.Context) { ask(ctx); kept = ctx })
				require.Equal(t, context.Canceled, kept.Err())
				<-kept.Done()
				time.Sleep(2 * limit)
				require.Equal(t, context.Canceled, kept.Err(), "an end stays as it was")
			})
		})
	}
	t.Run("wakes who waits for its end", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			try(t, t.Context(), func(ctx context.Context) { <-ctx.Done() })
			require.Equal(t, limit, time.Since(began))
		})
	})
	t.Run("what is derived from it needs no goroutine", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			try(t, t.Context(), func(ctx context.Context) {
				before := runtime.NumGoroutine()
				derived := make([]context.Context, 20)
				for i := range derived {
					within, cancel := context.WithCancel(context.WithValue(ctx, key{}, i))
					defer cancel()
					derived[i] = within
				}
				require.LessOrEqual(t, runtime.NumGoroutine(), before)
				time.Sleep(limit)
				synctest.Wait()
				for _, within := range derived {
					require.Equal(t, context.DeadlineExceeded, within.Err())
				}
			})
		})
	})
	t.Run("each attempt has one of its own", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var seen []context.Context
			h := does(func(ctx context.Context) (*mcp.CallToolResult, error) {
				for _, before := range seen {
					require.Equal(t, context.DeadlineExceeded, before.Err())
				}
				require.NoError(t, ctx.Err())
				seen = append(seen, ctx)
				return hangs(ctx)
			})
			guard(t, reads(h.handle), resilience.Policy{AttemptTimeout: limit, Attempts: 3})(t.Context())
			require.Len(t, seen, 3)
		})
	})
	t.Run("may be asked from many goroutines", func(t *testing.T) {
		var asking sync.WaitGroup
		try(t, t.Context(), func(ctx context.Context) {
			for range 8 {
				asking.Go(func() {
					within, cancel := context.WithCancel(ctx)
					defer cancel()
					_, _, _ = ctx.Err(), ctx.Value(key{}), within.Value(key{})
					<-ctx.Done()
					<-within.Done() // package context ends the children after the parent
					require.Error(t, within.Err())
				})
			}
		})
		asking.Wait()
	})
}
