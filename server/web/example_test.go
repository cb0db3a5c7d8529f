package web_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/kitebase/kitebase-mcp/server/web"
)

func ExampleServer_Serve() {
	desk := mcpserver.NewMCPServer("desk", "1")
	desk.AddTool(mcp.NewTool("greet"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("hello"), nil
	})
	s, err := web.New(desk, web.Config{Token: "secret"})
	if err != nil {
		fmt.Println(err)
		return
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error)
	go func() { served <- s.Serve(ctx, listener) }()

	url := "http://" + listener.Addr().String() + "/mcp"
	for _, token := range []string{"guess", "secret"} {
		status, body := greet(url, token)
		fmt.Println(status, body)
	}
	stop()
	fmt.Println(<-served)
	// Output:
	// 401 {"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"The server needs a token, and the request brought none or one that is not good here. Nothing was run. A person must set it."}}
	// 200 {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"hello"}]}}
	// <nil>
}

func greet(url, token string) (int, string) {
	r, err := http.NewRequest(http.MethodPost, url,
		strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet"}}`))
	if err != nil {
		return 0, err.Error()
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+token)
	r.Close = true
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err.Error()
	}
	return response.StatusCode, strings.TrimSpace(string(body))
}
