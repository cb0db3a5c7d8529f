// Command unguarded is an MCP server with the five tools of Kitebase and no guard: what comes of following the examples of
// mcp-go. It serves stdio, or with -http ADDR streamable HTTP at /mcp. It takes Kitebase from KITEBASE_URL and KITEBASE_TOKEN.
// It is there to be compared with.
package main

import (
	"flag"
	"fmt"
	"os"

	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/kitebase/kitebase-mcp/bench/kitebase"
	"github.com/kitebase/kitebase-mcp/bench/plain"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "unguarded: "+err.Error())
		os.Exit(1)
	}
}

func run() error {
	addr := flag.String("http", "", "address to serve streamable HTTP on, instead of stdio")
	flag.Parse()
	client, err := kitebase.FromEnvironment()
	if err != nil {
		return err
	}
	s := plain.Server("unguarded", client, func(call plain.Call) plain.Call { return call })
	if *addr != "" {
		return mcpserver.NewStreamableHTTPServer(s).Start(*addr)
	}
	return mcpserver.ServeStdio(s)
}
