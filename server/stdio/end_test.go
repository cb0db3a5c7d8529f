package stdio_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server/stdio"
)

// write is the handler of a call that goes on for d when it is cancelled.
func write(d time.Duration) mcpserver.ToolHandlerFunc {
	return func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		time.Sleep(d)
		return done(ctx, r)
	}
}

// mcp-go cancelled what was under way at the end of the input, left it unanswered, and dropped a last line without end.
func TestEndOfInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, tool(func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			select {
			case <-time.After(300 * time.Millisecond):
				return done(ctx, r)
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}), stdio.Config{})
		var lines []string
		for id := range 10 {
			lines = append(lines, call(fmt.Sprint(id)))
		}
		start := time.Now()
		_, err := io.WriteString(c.stdin, strings.Join(lines, "\n"))
		require.NoError(t, err)
		require.NoError(t, c.stdin.Close())
		require.NoError(t, <-c.ended)
		require.Equal(t, 300*time.Millisecond, time.Since(start))
		require.Len(t, c.received(), 10)
		for _, a := range c.received() {
			require.Equal(t, "done", text(a))
		}
	})
}

func TestSignal(t *testing.T) {
	t.Run("idle", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := connect(t, tool(done), stdio.Config{})
			synctest.Wait()
			start := time.Now()
			c.signal()
			require.NoError(t, <-c.ended)
			require.Zero(t, time.Since(start))
		})
	})
	t.Run("reads are aborted and writes finished, both are answered", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			server := tool(write(2 * time.Second))
			server.AddTool(mcp.NewTool("read"), untilCanceled)
			c := connect(t, server, stdio.Config{})
			c.send(call("1"), `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"read"}}`)
			start := time.Now()
			c.signal()
			require.Equal(t, []string{"2"}, c.ids())
			require.Equal(t, "aborted", text(c.only("2")))
			require.NoError(t, <-c.ended)
			require.Equal(t, 2*time.Second, time.Since(start))
			require.Equal(t, "done", text(c.only("1")))
		})
	})
	t.Run("after the end of the input", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := connect(t, tool(untilCanceled), stdio.Config{})
			c.send(call("1"))
			require.NoError(t, c.stdin.Close())
			require.Empty(t, c.received())
			c.signal()
			require.NoError(t, <-c.ended)
			require.Equal(t, "aborted", text(c.only("1")))
		})
	})
	t.Run("a read that cannot be interrupted is left behind and runs nothing", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			in, stdin := io.Pipe()
			ran := false
			server := tool(func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				ran = true
				return done(ctx, r)
			})
			ctx, signal := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, signal)
			require.NoError(t, stdio.Serve(ctx, server, in, io.Discard, stdio.Config{}))
			_, err := io.WriteString(stdin, call("1")+"\n")
			require.NoError(t, err)
			synctest.Wait()
			require.False(t, ran)
		})
	})
}

func TestReadErrorIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, stdin := io.Pipe()
		go func() {
			_, _ = io.WriteString(stdin, ping("1")+"\n")
			_ = stdin.CloseWithError(io.ErrNoProgress)
		}()
		var out strings.Builder
		err := stdio.Serve(t.Context(), tool(done), in, &out, stdio.Config{})
		require.ErrorIs(t, err, io.ErrNoProgress)
		require.Equal(t, `{"jsonrpc":"2.0","id":1,"result":{}}`+"\n", out.String())
	})
}

func TestCallThatDoesNotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		defer close(release)
		server := tool(untilCanceled)
		server.AddTool(mcp.NewTool("stuck"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			<-release
			return nil, nil
		})
		c := connect(t, server, stdio.Config{Drain: 10 * time.Second})
		c.send(call("1"), `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"stuck"}}`)
		start := time.Now()
		require.NoError(t, c.stdin.Close())
		require.EqualError(t, <-c.ended, "giving up on calls that did not end within 10s")
		require.Equal(t, 11*time.Second, time.Since(start))
		require.Equal(t, "aborted", text(c.only("1")), "one that ends with its context is answered")
	})
}
