package stdio_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server/stdio"
)

func TestClientThatDoesNotRead(t *testing.T) {
	const limit = 5 * time.Second
	ends := map[string]func(*connection){
		"end of input": func(c *connection) { _ = c.stdin.Close() },
		"signal":       func(c *connection) { c.signal() },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := connectUnread(t, tool(func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
					return mcp.NewToolResultText(strings.Repeat("x", 1<<20)), nil
				}), stdio.Config{})
				c.send(call("1"), call("2"))
				time.Sleep(time.Hour)
				start := time.Now()
				end(c)
				require.ErrorIs(t, <-c.ended, stdio.ErrUnread)
				require.Less(t, time.Since(start), limit)
			})
		})
	}
	t.Run("reads under way are aborted, writes finished", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var wrote, aborted atomic.Bool
			c := connectUnread(t, tool(func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				<-ctx.Done()
				aborted.Store(true)
				time.Sleep(7 * time.Second)
				wrote.Store(true)
				return done(ctx, r)
			}), stdio.Config{})
			c.send(ping("1"), call("2"))
			start := time.Now()
			require.NoError(t, c.stdin.Close())
			time.Sleep(limit)
			require.True(t, aborted.Load())
			require.ErrorIs(t, <-c.ended, stdio.ErrUnread)
			require.True(t, wrote.Load())
			require.Less(t, time.Since(start), 7*time.Second+limit)
		})
	})
	t.Run("one that reads slowly gets everything", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := connectUnread(t, tool(done), stdio.Config{})
			c.send(ping("1")) // this write is under way, the rest is queued behind it
			for id := 2; id <= 10; id++ {
				c.send(ping(fmt.Sprint(id)))
			}
			require.NoError(t, c.stdin.Close())
			time.Sleep(1900 * time.Millisecond)
			c.read1(t)
			time.Sleep(1900 * time.Millisecond)
			go c.read()
			require.NoError(t, <-c.ended)
			require.Len(t, c.received(), 9)
		})
	})
	t.Run("answers that pile up end the server", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := connectUnread(t, tool(done), stdio.Config{MaxUnread: 100})
			start := time.Now()
			go func() {
				for {
					if _, err := io.WriteString(c.stdin, ping("1")+"\n"); err != nil {
						return
					}
				}
			}()
			require.ErrorIs(t, <-c.ended, stdio.ErrUnread)
			require.Equal(t, 4*time.Second, time.Since(start))
		})
	})
}

func TestClientThatClosesItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wrote := false
		c := connectUnread(t, tool(func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			time.Sleep(time.Minute / 2)
			wrote = true
			return done(ctx, r)
		}), stdio.Config{})
		c.send(call("1"))
		require.NoError(t, c.stdout.Close())
		c.send(ping("2"))
		err := <-c.ended
		require.ErrorContains(t, err, "writing to the client")
		require.ErrorIs(t, err, io.ErrClosedPipe)
		require.True(t, wrote, "what was under way is finished")
	})
}
