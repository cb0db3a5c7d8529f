package stdio_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server/stdio"
)

func initialize(id string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"initialize","params":{"protocolVersion":"2025-11-25",` +
		`"capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`
}

// modern is a request of protocol revision 2026-07-28, with members for its params.
func modern(id, method, params string) string {
	if params != "" {
		params += ","
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{%s"_meta":{`+
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
		`"io.modelcontextprotocol/clientInfo":{"name":"modern","version":"1"},`+
		`"io.modelcontextprotocol/clientCapabilities":{}}}}`, id, method, params)
}

func progress(ctx context.Context, n int) error {
	return mcpserver.ServerFromContext(ctx).SendNotificationToClient(ctx, "notifications/progress",
		map[string]any{"progressToken": "t", "progress": n})
}

func TestNotificationsComeBeforeTheAnswerAndNoneAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const calls, notes = 20, 10
		late := make(chan struct{})
		c := connect(t, tool(func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			for n := range notes {
				if err := progress(ctx, n); err != nil {
					return nil, err
				}
			}
			go func() {
				<-late
				_ = progress(ctx, notes) // refused or dropped, either will do
			}()
			return done(ctx, r)
		}), stdio.Config{})
		c.send(initialize("0"))
		for id := 1; id <= calls; id++ {
			before := len(c.received())
			c.send(call(fmt.Sprint(id)))
			got := c.received()[before:]
			require.Len(t, got, notes+1)
			for n, a := range got[:notes] {
				require.EqualValues(t, n, a.Params["progress"])
			}
			require.Equal(t, fmt.Sprint(id), string(got[notes].ID))
		}
		before := len(c.received())
		close(late)
		require.Len(t, c.received(), before)
	})
}

func TestFirstNotificationAfterTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		late := make(chan struct{})
		failed := make(chan error, 1)
		c := connect(t, tool(func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			go func() {
				<-late
				failed <- progress(ctx, 1)
			}()
			return done(ctx, r)
		}), stdio.Config{})
		c.send(initialize("0"))
		c.send(call("1"))
		close(late)
		require.ErrorIs(t, <-failed, mcpserver.ErrNotificationChannelBlocked)
		require.Equal(t, []string{"0", "1"}, c.ids())
	})
}

func TestNotificationsComeWhileTheCallRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, tool(func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if err := progress(ctx, 1); err != nil {
				return nil, err
			}
			time.Sleep(time.Minute)
			_ = progress(ctx, 2)
			return done(ctx, r)
		}), stdio.Config{})
		c.send(initialize("0"), call("1"))
		require.Equal(t, []string{"0", ""}, c.ids())
		c.send(cancelLine("1"))
		time.Sleep(2 * time.Minute)
		require.Equal(t, []string{"0", ""}, c.ids(), "a cancelled call sends no notifications either")
	})
}

// mcp-go's session is a package variable: two servers in one process mixed up their clients.
func TestSeveralClientsOfOneServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := mcpserver.NewMCPServer("test", "1", mcpserver.WithLogging())
		server.AddTool(mcp.NewTool("tool"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			session := mcpserver.ClientSessionFromContext(ctx)
			info := session.(mcpserver.SessionWithClientInfo).GetClientInfo()
			level := session.(mcpserver.SessionWithLogging).GetLogLevel()
			version := session.(mcpserver.SessionWithProtocolVersion).ProtocolVersion()
			return mcp.NewToolResultText(fmt.Sprint(info.Name, " ", level, " ", version)), nil
		})
		a, b := connect(t, server, stdio.Config{}), connect(t, server, stdio.Config{})
		a.send(initialize("1"), `{"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{"level":"debug"}}`)
		a.send(call("3"))
		b.send(call("1"))
		b.send(modern("2", "tools/call", `"name":"tool"`))
		require.Equal(t, "c debug 2025-11-25", text(a.only("3")))
		require.Equal(t, " error ", text(b.only("1")))
		require.Equal(t, "modern error ", text(b.only("2")))

		server.SendNotificationToAllClients("notifications/hello", nil)
		for _, c := range []*connection{a, b} {
			got := c.received()
			require.Equal(t, "notifications/hello", got[len(got)-1].Method)
		}
	})
}

func TestBothErasOfTheProtocol(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, tool(done), stdio.Config{})
		c.send(modern("1", "server/discover", ""), modern("2", "tools/list", ""), modern("3", "tools/call", `"name":"tool"`))
		require.Contains(t, c.only("1").line, "2026-07-28")
		require.Len(t, c.only("2").Result["tools"], 1)
		require.Equal(t, "complete", c.only("3").Result["resultType"])

		c.send(initialize("4"), `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		c.send(call("5"))
		require.Equal(t, "2025-11-25", c.only("4").Result["protocolVersion"])
		require.NotContains(t, c.only("5").Result, "resultType")
	})
}

func TestCallBehindInitializeFindsTheSessionInitialized(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hooks := &mcpserver.Hooks{}
		hooks.AddBeforeInitialize(func(context.Context, any, *mcp.InitializeRequest) { time.Sleep(time.Second) })
		server := mcpserver.NewMCPServer("test", "1", mcpserver.WithHooks(hooks))
		server.AddTool(mcp.NewTool("tool"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText(mcpserver.RequestProtocolVersion(ctx)), nil
		})
		c := connect(t, server, stdio.Config{})
		c.send(initialize("1") + "\n" + call("2"))
		time.Sleep(2 * time.Second)
		require.Equal(t, []string{"1", "2"}, c.ids())
		require.Equal(t, "2025-11-25", text(c.only("2")))
	})
}

func TestSubscriptionEndsWithTheInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := mcpserver.NewMCPServer("test", "1", mcpserver.WithToolCapabilities(true))
		c := connect(t, server, stdio.Config{})
		c.send(modern("1", "subscriptions/listen", `"notifications":{"toolsListChanged":true}`))
		require.Len(t, c.received(), 1, "the acknowledgement")
		start := time.Now()
		require.NoError(t, c.stdin.Close())
		require.NoError(t, <-c.ended)
		require.Zero(t, time.Since(start))
		require.NotNil(t, c.only("1").Result)
	})
}

func TestNotificationThatIsNoJSONIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, tool(func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			_ = mcpserver.ServerFromContext(ctx).SendNotificationToClient(ctx, "notifications/bad",
				map[string]any{"bad": json.RawMessage("{")})
			return done(ctx, r)
		}), stdio.Config{})
		c.send(initialize("0"), call("1"))
		require.Equal(t, []string{"0", "1"}, c.ids())
	})
}
