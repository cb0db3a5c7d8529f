package stdio_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server/stdio"
)

// answer is what the tests look at in a line that the server wrote.
type answer struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params map[string]any  `json:"params"`
	Result map[string]any  `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
	line string
}

// connection is a client at the other end of a Serve, inside of a synctest bubble.
type connection struct {
	t      *testing.T
	stdin  io.WriteCloser
	stdout io.ReadCloser
	signal context.CancelFunc
	ended  chan error

	mu      sync.Mutex
	answers []answer
}

// connect starts a Serve that ends with the test.
func connect(t *testing.T, server *mcpserver.MCPServer, cfg stdio.Config) *connection {
	c := connectUnread(t, server, cfg)
	go c.read()
	return c
}

// connectUnread is connect for a client that does not read.
func connectUnread(t *testing.T, server *mcpserver.MCPServer, cfg stdio.Config) *connection {
	in, stdin := net.Pipe()
	stdout, out := net.Pipe()
	ctx, signal := context.WithCancel(t.Context())
	c := &connection{t: t, stdin: stdin, stdout: stdout, signal: signal, ended: make(chan error, 1)}
	go func() {
		c.ended <- stdio.Serve(ctx, server, in, out, cfg)
		_ = out.Close()
	}()
	t.Cleanup(func() {
		signal()
		_ = stdin.Close()
		_ = stdout.Close()
	})
	return c
}

func (c *connection) read() {
	lines := bufio.NewReader(c.stdout)
	for {
		text, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		a := answer{line: text}
		if json.Unmarshal([]byte(text), &a) != nil {
			a.Method = "not JSON: " + text
		}
		c.mu.Lock()
		c.answers = append(c.answers, a)
		c.mu.Unlock()
	}
}

// read1 takes what the server is writing at the moment.
func (c *connection) read1(t *testing.T) {
	_, err := c.stdout.Read(make([]byte, 1<<20))
	require.NoError(t, err)
}

// send writes lines, each with a line end, and waits until everything that can happen at this moment has happened.
func (c *connection) send(lines ...string) {
	for _, line := range lines {
		_, err := io.WriteString(c.stdin, line+"\n")
		require.NoError(c.t, err)
	}
	synctest.Wait()
}

// received returns what came so far, in order.
func (c *connection) received() []answer {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]answer(nil), c.answers...)
}

// ids returns the ids of what came so far, in order; "" for notifications.
func (c *connection) ids() []string {
	ids := []string{}
	for _, a := range c.received() {
		ids = append(ids, string(a.ID))
	}
	return ids
}

// only returns the one line that came for an id, and fails if there is none or another.
func (c *connection) only(id string) answer {
	c.t.Helper()
	var found []answer
	for _, a := range c.received() {
		if string(a.ID) == id {
			found = append(found, a)
		}
	}
	require.Len(c.t, found, 1, "answers under id %s", id)
	return found[0]
}

// tool is a server with one tool, "tool".
func tool(handler mcpserver.ToolHandlerFunc) *mcpserver.MCPServer {
	server := mcpserver.NewMCPServer("test", "1")
	server.AddTool(mcp.NewTool("tool"), handler)
	return server
}

// call is the line of a call of "tool"; id is JSON.
func call(id string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"tool"}}`
}

func cancelLine(id string) string {
	return `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`
}

func ping(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}` }

func text(a answer) string {
	content, _ := a.Result["content"].([]any)
	if len(content) == 0 {
		return ""
	}
	block, _ := content[0].(map[string]any)
	s, _ := block["text"].(string)
	return s
}

// done answers "done".
func done(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return mcp.NewToolResultText("done"), nil
}

// untilCanceled answers when its context ends.
func untilCanceled(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	<-ctx.Done()
	return mcp.NewToolResultText("aborted"), nil
}
