package stdio_test

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server/stdio"
)

// mcp-go's loop has five workers: behind five hung calls a healthy one waited, and behind a full queue so did ping and
// cancel.
func TestHungCallsDelayNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := tool(untilCanceled)
		server.AddTool(mcp.NewTool("healthy"), done)
		c := connect(t, server, stdio.Config{})
		for id := range 30 {
			c.send(call(fmt.Sprint(id)))
		}
		c.send(ping(`"p"`), `{"jsonrpc":"2.0","id":"h","method":"tools/call","params":{"name":"healthy"}}`)
		require.ElementsMatch(t, []string{`"p"`, `"h"`}, c.ids())
		require.Equal(t, "done", text(c.only(`"h"`)))
	})
}

func TestCancel(t *testing.T) {
	t.Run("a running call sees its context end and is not answered", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var ended atomic.Int32
			c := connect(t, tool(func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				defer ended.Add(1)
				return untilCanceled(ctx, r)
			}), stdio.Config{})
			c.send(call("1"), call("2"), cancelLine("1"))
			require.EqualValues(t, 1, ended.Load())
			c.send(cancelLine("2"), ping("3"))
			require.EqualValues(t, 2, ended.Load())
			require.Equal(t, []string{"3"}, c.ids())
		})
	})
	t.Run("a call that ends in spite of it is not answered either", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := connect(t, tool(func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				time.Sleep(time.Second)
				return done(ctx, r)
			}), stdio.Config{})
			c.send(call("1"), cancelLine("1"))
			time.Sleep(2 * time.Second)
			require.Empty(t, c.ids())
			require.NoError(t, c.stdin.Close())
			require.NoError(t, <-c.ended)
		})
	})
	// mcp-go lost the cancel of a call that was still queued, and ran it later with its effect.
	t.Run("a call that has not begun never runs", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var runs atomic.Int32
			gate := make(chan struct{})
			c := connect(t, tool(func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				runs.Add(1)
				return done(ctx, r)
			}), stdio.Config{Context: func(ctx context.Context, _ time.Time) context.Context {
				<-gate
				return ctx
			}})
			c.send(call("1"), call("2"), cancelLine("1"))
			close(gate)
			require.Equal(t, []string{"2"}, c.ids())
			require.EqualValues(t, 1, runs.Load())
		})
	})
	t.Run("1 and the string 1 are different ids", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := connect(t, tool(untilCanceled), stdio.Config{})
			c.send(call("1"), call(`"1"`), cancelLine(`"1"`))
			c.signal()
			require.Equal(t, []string{"1"}, c.ids())
		})
	})
	t.Run("one id may be written in several ways", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := connect(t, tool(untilCanceled), stdio.Config{})
			c.send(call(`"a"`), call("10"), call("7"), cancelLine(`"\u0061"`), cancelLine("1.0e1"))
			c.signal()
			require.Equal(t, []string{"7"}, c.ids())
		})
	})
	t.Run("what names no request under way is ignored", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := connect(t, tool(done), stdio.Config{})
			c.send(cancelLine("1"), cancelLine("null"), cancelLine("{}"),
				`{"jsonrpc":"2.0","method":"notifications/cancelled"}`, call("1"))
			c.send(cancelLine("1"))
			require.Equal(t, []string{"1"}, c.ids())
		})
	})
	t.Run("initialize cannot be cancelled", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := connect(t, tool(done), stdio.Config{})
			c.send(initialize("1") + "\n" + cancelLine("1"))
			require.NotNil(t, c.only("1").Result)
		})
	})
}

// With mcp-go both ran and both were answered.
func TestRepeatedIDIsRefusedWhileUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runs atomic.Int32
		c := connect(t, tool(func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			runs.Add(1)
			time.Sleep(time.Second)
			return done(ctx, r)
		}), stdio.Config{})
		c.send(call("1"), call("1"))
		refused := c.only("1")
		require.Equal(t, mcp.INVALID_REQUEST, refused.Error.Code)
		require.Contains(t, refused.Error.Message, "Not run: a request with this id is under way already.")
		require.EqualValues(t, 1, runs.Load())
		c.send(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":tru}}`)
		require.Equal(t, mcp.PARSE_ERROR, c.only("null").Error.Code, "what is no JSON has no id")

		time.Sleep(2 * time.Second)
		require.Len(t, c.received(), 3)
		require.Equal(t, "done", text(c.received()[2]))

		c.send(call("1"))
		time.Sleep(2 * time.Second)
		require.Equal(t, "done", text(c.received()[3]), "an id that was answered may be used again")
	})
}

// mcp-go queued a hundred and then ran calls on its read loop.
func TestTooManyCallsAreRefusedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, tool(untilCanceled), stdio.Config{MaxCalls: 2})
		c.send(call("1"), call("2"), call("3"), ping("4"))
		refused := c.only("3")
		require.Equal(t, true, refused.Result["isError"])
		require.NotContains(t, refused.Result, "resultType")
		require.Equal(t, "Error: tool was not run: 2 calls are under way already. "+
			"Wait until some have been answered, then call it again.", text(refused))
		c.only("4")

		c.send(modern("5", "tools/call", `"name":"tool"`))
		require.Equal(t, "complete", c.only("5").Result["resultType"], "required since 2026-07-28")

		c.send(cancelLine("1"))
		c.send(call("6"))
		c.signal()
		require.Equal(t, "aborted", text(c.only("6")), "ran, since a place was free again")
	})
}

func TestArrivalIsWhenTheLineWasRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		type arrivalKey struct{}
		c := connect(t, tool(func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			arrived, _ := ctx.Value(arrivalKey{}).(time.Time)
			return mcp.NewToolResultText(arrived.Sub(start).String()), nil
		}), stdio.Config{Context: func(ctx context.Context, arrived time.Time) context.Context {
			time.Sleep(time.Second)
			return context.WithValue(ctx, arrivalKey{}, arrived)
		}})
		time.Sleep(5 * time.Second)
		_, err := io.WriteString(c.stdin, call("1")+"\n")
		require.NoError(t, err)
		time.Sleep(2 * time.Second)
		require.Equal(t, "5s", text(c.only("1")))
	})
}
