package stdio_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/kitebase/kitebase-mcp/server/stdio"
)

// A last line needs no line end, and what was received is answered before Serve returns.
func ExampleServe() {
	server := mcpserver.NewMCPServer("example", "1")
	server.AddTool(mcp.NewTool("greet"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("hello"), nil
	})
	in := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet"}}`)
	if err := stdio.Serve(context.Background(), server, in, os.Stdout, stdio.Config{}); err != nil {
		fmt.Println(err)
	}
	// Output: {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"hello"}]}}
}

func ExampleNewLogWriter() {
	log := stdio.NewLogWriter(os.Stdout, 0)
	fmt.Fprintln(log, "a line that nobody has to read")
	_ = log.Close()
	// Output: a line that nobody has to read
}
