package web_test

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server/web"
)

// BenchmarkCall is what the fence costs: the same call, 64 connections, with and without it.
func BenchmarkCall(b *testing.B) {
	desk := mcpserver.NewMCPServer("desk", "1")
	desk.AddTool(mcp.NewTool("echo"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("echo"), nil
	})
	b.Run("bare mcp-go", func(b *testing.B) {
		s := httptest.NewServer(mcpserver.NewStreamableHTTPServer(desk, mcpserver.WithStateLess(true)))
		defer s.Close()
		benchmarkCalls(b, s.URL)
	})
	b.Run("fenced", func(b *testing.B) {
		s, err := web.New(desk, web.Config{Token: "t"})
		require.NoError(b, err)
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(b, err)
		ctx, stop := context.WithCancel(b.Context())
		served := make(chan error)
		go func() { served <- s.Serve(ctx, listener) }()
		benchmarkCalls(b, "http://"+listener.Addr().String()+"/mcp")
		stop()
		require.NoError(b, <-served)
	})
}

// BenchmarkHandler is a call with an answer like that of get_ticket, without connections and clients: what either handler costs.
func BenchmarkHandler(b *testing.B) {
	ticket := `{"ticket":{"id":"KITE-142","words":"` + strings.Repeat("<word> ", 120) + `"}}`
	desk := mcpserver.NewMCPServer("desk", "1")
	desk.AddTool(mcp.NewTool("ticket"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{mcp.NewTextContent(ticket)}, RawStructuredContent: json.RawMessage(ticket)}, nil
	})
	s, err := web.New(desk, web.Config{})
	require.NoError(b, err)
	for _, each := range []struct {
		name    string
		handler http.Handler
	}{
		{"bare mcp-go", mcpserver.NewStreamableHTTPServer(desk, mcpserver.WithStateLess(true))},
		{"fenced", s.Handler()},
	} {
		b.Run(each.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(toolCall("1", "ticket")))
				r.Host = "127.0.0.1:8090"
				r.Header.Set("Content-Type", "application/json")
				r.Header.Set("Mcp-Session-Id", "MINE")
				w := httptest.NewRecorder()
				if each.handler.ServeHTTP(w, r); w.Code != http.StatusOK || w.Body.Len() < 2*len(ticket) {
					b.Fatal(w.Code, w.Body)
				}
			}
		})
	}
}

func benchmarkCalls(b *testing.B, url string) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	defer client.CloseIdleConnections()
	b.SetParallelism(32) // times GOMAXPROCS
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			r, err := http.NewRequest(http.MethodPost, url, strings.NewReader(toolCall("1", "echo")))
			if err != nil {
				b.Error(err)
				return
			}
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Authorization", "Bearer t")
			response, err := client.Do(r)
			if err != nil {
				b.Error(err)
				return
			}
			body, err := io.ReadAll(response.Body)
			_ = response.Body.Close()
			if err != nil || !strings.Contains(string(body), `"text":"echo"`) {
				b.Errorf("%s %v", body, err)
				return
			}
		}
	})
}
