package web_test

import (
	"context"
	"flag"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/kitebase/kitebase-mcp/server/web"
)

var long = flag.Bool("long", false, "run the long versions: 10,000 cycles, 5,000 idle sessions")

// patience bounds waits for what the other end of a socket notices by itself; nothing is measured by it.
const (
	patience = 20 * time.Second
	tick     = 5 * time.Millisecond
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A desk is a web.Server with tools to test it by: echo, hang (until released or cancelled), stubborn (until released),
// progress, panic, late panic (after progress, when released), and broken (a result that is no JSON).
type desk struct {
	addr    string
	runs    atomic.Int64  // of any tool
	started chan struct{} // one for each hang or stubborn that began
	release chan struct{}
	ended   chan error // how each hang or stubborn ended: nil or its context's error
	arrived chan time.Time
	log     lockedBuffer
	client  *http.Client
	end     context.CancelFunc
	result  chan error // of Serve
}

func openDesk(t *testing.T, cfg web.Config) *desk {
	t.Helper()
	return openDeskWith(t, cfg)
}

// openDeskWith is openDesk with options of the MCP server.
func openDeskWith(t *testing.T, cfg web.Config, options ...mcpserver.ServerOption) *desk {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	d := serveDesk(t, cfg, listener, options...)
	d.client.Transport = &http.Transport{MaxIdleConnsPerHost: 64}
	return d
}

func serveDesk(t *testing.T, cfg web.Config, listener net.Listener, options ...mcpserver.ServerOption) *desk {
	t.Helper()
	d := &desk{
		addr:    listener.Addr().String(),
		started: make(chan struct{}, 1000),
		release: make(chan struct{}),
		ended:   make(chan error, 1000),
		arrived: make(chan time.Time, 1000),
		client:  &http.Client{},
		result:  make(chan error, 1),
	}
	cfg.Logger = slog.New(slog.NewTextHandler(&d.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if cfg.Context == nil {
		cfg.Context = func(ctx context.Context, arrived time.Time) context.Context {
			select {
			case d.arrived <- arrived:
			default:
			}
			return ctx
		}
	}
	s, err := web.New(d.newMCP(options...), cfg)
	require.NoError(t, err)
	ctx, end := context.WithCancel(context.WithoutCancel(t.Context())) // outlives the clients
	d.end = end
	go func() { d.result <- s.Serve(ctx, listener) }()
	t.Cleanup(func() {
		d.client.CloseIdleConnections()
		end()
		for {
			select {
			case d.release <- struct{}{}: // whatever still hangs
			case err := <-d.result:
				if !t.Failed() {
					require.NoError(t, err)
				}
				return
			}
		}
	})
	return d
}

func (d *desk) newMCP(options ...mcpserver.ServerOption) *mcpserver.MCPServer {
	m := mcpserver.NewMCPServer("desk", "1", append(options, mcpserver.WithToolCapabilities(true))...)
	add := func(name string, run func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error)) {
		m.AddTool(mcp.NewTool(name), func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			d.runs.Add(1)
			return run(ctx, r)
		})
	}
	add("echo", func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(r.GetString("text", "echo")), nil
	})
	add("hang", func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		d.started <- struct{}{}
		select {
		case <-d.release:
		case <-ctx.Done():
		}
		d.ended <- ctx.Err()
		return mcp.NewToolResultText("released"), nil
	})
	add("stubborn", func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		d.started <- struct{}{}
		<-d.release
		d.ended <- ctx.Err()
		return mcp.NewToolResultText("released"), nil
	})
	add("progress", func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for i := range 50 {
			_ = mcpserver.ServerFromContext(ctx).SendNotificationToClient(ctx, "notifications/progress",
				map[string]any{"progressToken": "t", "progress": i + 1})
		}
		return mcp.NewToolResultText("progressed"), nil
	})
	add("panic", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) { panic("secret of the panic") })
	add("late panic", func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		_ = mcpserver.ServerFromContext(ctx).SendNotificationToClient(ctx, "notifications/progress",
			map[string]any{"progressToken": "t", "progress": 1})
		<-d.release
		panic("secret of the panic")
	})
	add("broken", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{StructuredContent: func() {}}, nil
	})
	return m
}

// stop ends the server and returns what Serve returned.
func (d *desk) stop() error {
	d.end()
	err := <-d.result
	d.result <- nil // for the clean-up
	return err
}

// do sends a request; header is a list of names and values. "Host" sets the host.
func (d *desk) do(t *testing.T, method, path, body string, header ...string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://"+d.addr+path, strings.NewReader(body))
	require.NoError(t, err)
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		if r.Header.Set(header[i], header[i+1]); header[i] == "Host" {
			r.Host = header[i+1]
		}
	}
	response, err := d.client.Do(r)
	require.NoError(t, err)
	t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

// answer reads the rest of a response.
func answer(t *testing.T, r *http.Response) string {
	t.Helper()
	body, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	require.NoError(t, r.Body.Close())
	return string(body)
}

// toolCall is a tools/call of one of the older revisions.
func toolCall(id, tool string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + tool + `"}}`
}

func cancelled(id string) string {
	return `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`
}
