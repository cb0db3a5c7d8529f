package resilience_test

import (
	"bytes"
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/server/resilience"
)

func TestPanicsBecomeAnswers(t *testing.T) {
	t.Run("in the handler of a read", func(t *testing.T) {
		result := guard(t, reads(does(panics).handle), resilience.Policy{})(t.Context())
		require.Equal(t, "Error: get_ticket failed after 1 try: an internal fault in this server (InternalError). "+
			"Don't repeat it: use another tool, or stop and tell a person.", text(result))
		require.Equal(t, resilience.ErrorInfo{Kind: "internal", Attempts: 1, Next: "person", Outcome: "not_done"}, info(t, result))
	})
	t.Run("in the handler of a write, which may have been done", func(t *testing.T) {
		result := guard(t, sends(does(panics).handle), resilience.Policy{})(t.Context())
		require.Contains(t, text(result), "may have gone through anyway")
		require.NotContains(t, text(result), "secret")
		require.Equal(t, "check", info(t, result).Next)
	})
	t.Run("in the log, which says where and not with what words", func(t *testing.T) {
		var log bytes.Buffer
		guard(t, sends(does(panics).handle), resilience.Policy{Logger: slog.New(slog.NewTextHandler(&log, nil))})(t.Context())
		require.Contains(t, log.String(), "panic: a string")
		require.Contains(t, log.String(), "resilience_test.go")
		require.NotContains(t, log.String(), "secret")
	})
	t.Run("in the second attempt", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			result := guard(t, reads(does(fails(reset), panics).handle), resilience.Policy{})(t.Context())
			require.Equal(t, 2, info(t, result).Attempts)
		})
	})
	t.Run("in each layer of a chain", func(t *testing.T) {
		bomb := func(mcpserver.ToolHandlerFunc) mcpserver.ToolHandlerFunc {
			return func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) { panic("secret detail") }
		}
		for i := 1; i <= 4; i++ {
			layers := []mcpserver.ToolHandlerMiddleware{
				resilience.Explain(resilience.ExplainConfig{}),
				resilience.Dedupe(resilience.DedupeConfig{Ledger: inMemory(), Identify: identify}),
				resilience.Retry(resilience.RetryConfig{}),
				resilience.Timeout(time.Second),
			}
			chain := append(append(append([]mcpserver.ToolHandlerMiddleware{}, layers[:i]...), bomb), layers[i:]...)
			result, err := resilience.Chain(chain...)(does(succeeds).handle)(t.Context(), message("x"))
			require.NoError(t, err)
			require.Equal(t, resilience.Internal, info(t, result).Kind)
			require.NotContains(t, text(result), "secret")
		}
	})
	t.Run("in what the layers are given", func(t *testing.T) {
		dedupe := resilience.DedupeConfig{
			Ledger:   inMemory(),
			Identify: func(mcp.CallToolRequest) (idempotency.Identity, error) { panic("secret detail") },
		}
		result := guard(t, sends(does(succeeds).handle), resilience.Policy{Dedupe: &dedupe})(t.Context())
		require.Equal(t, resilience.ErrorInfo{Kind: "internal", Attempts: 0, Next: "person", Outcome: "not_done"}, info(t, result))
		require.Contains(t, text(result), "was not run")
	})
}

func TestAWriteThatStartedIsFinished(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, leave := context.WithCancel(t.Context())
		time.AfterFunc(50*time.Millisecond, leave)
		began := time.Now()
		require.False(t, guard(t, sends(does(takes(time.Second, succeeds)).handle), resilience.Policy{})(ctx).IsError)
		require.Equal(t, time.Second, time.Since(began))
	})
	t.Run("but a read is cut short", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, leave := context.WithCancel(t.Context())
			time.AfterFunc(50*time.Millisecond, leave)
			began := time.Now()
			result := guard(t, reads(does(takes(time.Second, succeeds)).handle), resilience.Policy{})(ctx)
			require.Equal(t, resilience.Canceled, info(t, result).Kind)
			require.Equal(t, 50*time.Millisecond, time.Since(began))
		})
	})
	t.Run("and what was cancelled before it began never starts", func(t *testing.T) {
		ctx, leave := context.WithCancel(t.Context())
		leave()
		h := does(succeeds)
		result := guard(t, sends(h.handle), resilience.Policy{})(ctx)
		require.Zero(t, h.runs)
		require.Equal(t, "not_done", info(t, result).Outcome)
	})
	t.Run("its own deadline ends it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			guard(t, sends(does(hangs).handle), resilience.Policy{AttemptTimeout: -1})(t.Context())
			require.Equal(t, 25*time.Second, time.Since(began))
		})
	})
}

func TestResultsOfHandlersArePassedOn(t *testing.T) {
	t.Run("one result may be returned to many", func(t *testing.T) {
		same, _ := succeeds(t.Context())
		call := guard(t, reads(func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) { return same, nil }), resilience.Policy{})
		require.Equal(t, 1, attempts(call(t.Context())))
		require.Nil(t, same.Meta, "the handler's own result is not changed")
	})
	t.Run("an error result of the handler is its own answer", func(t *testing.T) {
		h := does(func(context.Context) (*mcp.CallToolResult, error) { return mcp.NewToolResultError("no"), nil })
		result := guard(t, reads(h.handle), resilience.Policy{})(t.Context())
		require.True(t, result.IsError)
		require.Equal(t, "no", text(result))
		require.Equal(t, 1, h.runs)
	})
	t.Run("neither result nor error is a bug", func(t *testing.T) {
		h := does(func(context.Context) (*mcp.CallToolResult, error) { return nil, nil })
		require.Equal(t, resilience.Internal, info(t, guard(t, reads(h.handle), resilience.Policy{})(t.Context())).Kind)
	})
}

func TestProgressIsToldBeforeEachWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := mcpserver.NewMCPServer("test", "0")
		guarded, err := resilience.Wrap(reads(does(fails(reset), fails(down), succeeds).handle), resilience.Policy{Attempts: 3, Upstream: "Kitebase"})
		require.NoError(t, err)
		server.AddTools(guarded)
		session := &session{notifications: make(chan mcp.JSONRPCNotification, 10)}
		ctx := server.WithContext(t.Context(), session)

		answer := server.HandleMessage(ctx, []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_ticket","_meta":{"progressToken":"p1"}}}`))
		require.IsType(t, mcp.JSONRPCResponse{}, answer)
		require.Len(t, session.notifications, 2)
		for i, want := range []string{"attempt 2 of 3 after connection reset by Kitebase", "attempt 3 of 3 after no connection to Kitebase"} {
			sent := <-session.notifications
			require.Equal(t, "notifications/progress", sent.Method)
			require.Equal(t, map[string]any{"progressToken": "p1", "progress": i + 1, "message": want}, sent.Params.AdditionalFields)
		}

		server.HandleMessage(ctx, []byte(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"get_ticket"}}`))
		require.Empty(t, session.notifications, "nobody asked")
	})
}

type session struct {
	notifications chan mcp.JSONRPCNotification
}

func (s *session) Initialize()                                         {}
func (s *session) Initialized() bool                                   { return true }
func (s *session) NotificationChannel() chan<- mcp.JSONRPCNotification { return s.notifications }
func (s *session) SessionID() string                                   { return "test" }
