package call_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	mcpserver "github.com/mark3labs/mcp-go/server"
	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/bench/kitebase"
	"github.com/kitebase/kitebase-mcp/bench/plain"
	"github.com/kitebase/kitebase-mcp/server"
)

// canned is a connection to a Kitebase that gives the same answer to whatever it is asked.
type canned struct {
	answer []byte

	mu      sync.Mutex
	arrived sync.Cond
	unread  []byte
	closed  bool
}

func (c *canned) Write(request []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if bytes.HasSuffix(request, []byte("\r\n\r\n")) {
		c.unread = c.answer
		c.arrived.Signal()
	}
	return len(request), nil
}

func (c *canned) Read(into []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.unread) == 0 && !c.closed {
		c.arrived.Wait()
	}
	if c.closed {
		return 0, io.EOF
	}
	n := copy(into, c.unread)
	c.unread = c.unread[n:]
	return n, nil
}

func (c *canned) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.arrived.Signal()
	return nil
}

func (*canned) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (*canned) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (*canned) SetDeadline(time.Time) error      { return nil }
func (*canned) SetReadDeadline(time.Time) error  { return nil }
func (*canned) SetWriteDeadline(time.Time) error { return nil }

// dial connects to the canned Kitebase.
func dial(tb testing.TB) func(context.Context, string, string) (net.Conn, error) {
	ticket, err := os.ReadFile("testdata/ticket.json")
	require.NoError(tb, err)
	answer := fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-Request-Id: req_000001\r\nContent-Length: %d\r\n\r\n%s", len(ticket), ticket)
	return func(context.Context, string, string) (net.Conn, error) {
		c := &canned{answer: answer}
		c.arrived.L = &c.mu
		return c, nil
	}
}

func guarded(tb testing.TB, in io.Reader, out io.Writer) {
	s, err := server.New(server.Config{URL: "http://kitebase.invalid", Token: "t", DialContext: dial(tb)})
	require.NoError(tb, err)
	defer s.Close()
	require.NoError(tb, s.ServeStdio(context.Background(), in, out))
}

func bare(tb testing.TB, in io.Reader, out io.Writer) {
	client := kitebase.New("http://kitebase.invalid", "t", dial(tb))
	s := plain.Server("bare", client, func(call plain.Call) plain.Call { return call })
	require.NoError(tb, mcpserver.NewStdioServer(s).Listen(context.Background(), in, out))
}

// BenchmarkCall makes one call after another.
func BenchmarkCall(b *testing.B) {
	for _, each := range []struct {
		name  string
		serve func(testing.TB, io.Reader, io.Writer)
	}{{"bare", bare}, {"guarded", guarded}} {
		b.Run(each.name, func(b *testing.B) {
			in, requests := io.Pipe()
			answers, out := io.Pipe()
			served := make(chan struct{})
			go func() { defer close(served); each.serve(b, in, out) }()
			read := bufio.NewReaderSize(answers, 64<<10)
			call := func(request string) {
				_, err := requests.Write([]byte(request + "\n"))
				require.NoError(b, err)
				answer, err := read.ReadSlice('\n')
				require.NoError(b, err)
				require.True(b, bytes.Contains(answer, []byte(`"result":`)) && !bytes.Contains(answer, []byte(`"isError":true`)), string(answer))
			}
			call(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`)
			b.ReportAllocs()
			for b.Loop() {
				call(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_ticket","arguments":{"ticket_id":"KITE-142"}}}`)
			}
			require.NoError(b, requests.Close())
			<-served
		})
	}
}
