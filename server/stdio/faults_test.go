package stdio_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server/stdio"
)

// What goes wrong outside of the guard is answered without its text, which goes into the log.
func TestFaultsOfHandlers(t *testing.T) {
	const secret = "token abc123"
	faults := []struct {
		name string
		run  func() (*mcp.CallToolResult, error)
		want string
		log  string
	}{
		{"panic", func() (*mcp.CallToolResult, error) { panic(secret) }, "Internal error in the server.", "faults_test.go"},
		{"Go error", func() (*mcp.CallToolResult, error) { return nil, errors.New(secret) },
			"Internal error in the server.", secret},
		{"end of its goroutine", func() (*mcp.CallToolResult, error) { runtime.Goexit(); return nil, nil },
			"Internal error in the server.", ""},
		// mcp-go never answered this one.
		{"result that is no JSON", func() (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{StructuredContent: map[string]any{secret: make(chan int)}}, nil
		}, "The answer could not be written as JSON. The call itself was run", "unsupported type"},
		{"result whose encoding panics", func() (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{StructuredContent: panics{}}, nil
		}, "Internal error in the server.", "faults_test.go"},
	}
	for _, fault := range faults {
		t.Run(fault.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				server := tool(func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) { return fault.run() })
				server.AddTool(mcp.NewTool("healthy"), done)
				c := connect(t, server, stdio.Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
				c.send(call("1"))
				got := c.only("1")
				require.Equal(t, mcp.INTERNAL_ERROR, got.Error.Code)
				require.Contains(t, got.Error.Message, fault.want)
				require.NotContains(t, got.line, secret)
				require.Contains(t, log.String(), fault.log)
				require.Equal(t, fault.log == secret, strings.Contains(log.String(), secret), "a panic may hold words of the call")

				c.send(ping("2"), `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"healthy"}}`)
				require.Equal(t, "done", text(c.only("3")))
				require.NoError(t, c.stdin.Close())
				require.NoError(t, <-c.ended, "a call that ended badly is not under way any more")
			})
		})
	}
}

type panics struct{}

func (panics) MarshalJSON() ([]byte, error) { panic("token abc123") }

func TestPanicInNotificationHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		server := tool(done)
		server.AddNotificationHandler("notifications/odd", func(context.Context, mcp.JSONRPCNotification) { panic("odd") })
		c := connect(t, server, stdio.Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		c.send(`{"jsonrpc":"2.0","method":"notifications/odd"}`, call("1"))
		require.Equal(t, []string{"1"}, c.ids())
		require.Contains(t, log.String(), `panic="a string"`)
		require.Contains(t, log.String(), "faults_test.go")
	})
}

func TestConfigIsValidated(t *testing.T) {
	for _, cfg := range []stdio.Config{{MaxLine: -2}, {MaxCalls: -2}, {MaxUnread: -2}, {Drain: -2}, {Stall: -2}} {
		require.ErrorContains(t, stdio.Serve(t.Context(), tool(done), nil, nil, cfg), "must be positive")
	}
}
