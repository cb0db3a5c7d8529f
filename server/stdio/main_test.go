package stdio_test

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
	"go.uber.org/goleak"

	"github.com/kitebase/kitebase-mcp/server/stdio"
)

// actAs names the loop that the test binary serves its own stdin with instead of running tests: "ours" or "mcp-go".
const actAs = "STDIO_TEST_ACT_AS"

func TestMain(m *testing.M) {
	switch loop := os.Getenv(actAs); loop {
	case "":
		goleak.VerifyTestMain(m)
	default:
		if err := serveStdin(loop); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

func serveStdin(loop string) error {
	server := mcpserver.NewMCPServer("test", "1")
	server.AddTool(mcp.NewTool("noop"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("done"), nil
	})
	if loop == "mcp-go" {
		return mcpserver.ServeStdio(server)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	fmt.Fprintln(os.Stderr, "ready")
	return stdio.Serve(ctx, server, os.Stdin, os.Stdout, stdio.Config{})
}
