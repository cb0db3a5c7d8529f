// Command unguarded is an MCP server on stdio with the five tools of Kitebase and no guard: what comes of following the
// examples of mcp-go. It takes Kitebase from KITEBASE_URL and KITEBASE_TOKEN. It is there to be compared with.
package main

import (
	"fmt"
	"os"

	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/kitebase/kitebase-mcp/bench/plain"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "unguarded: "+err.Error())
		os.Exit(1)
	}
}

func run() error {
	client, err := plain.FromEnvironment()
	if err != nil {
		return err
	}
	return mcpserver.ServeStdio(plain.Server("unguarded", client, func(call plain.Call) plain.Call { return call }))
}
