package doctor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// child is a server that was started, and the client that speaks to it.
type child struct {
	cmd    *exec.Cmd
	client *client.Client
	stderr lastLine
}

// start starts the program for a client with options; it is killed when ctx ends. The caller ends it.
func start(ctx context.Context, program Program, options ...client.ClientOption) (*child, error) {
	c := &child{cmd: exec.CommandContext(ctx, program.Path, program.Args...)}
	c.cmd.Env = append([]string{}, program.Env...) // nil would be the environment of this process
	c.cmd.Stderr = &c.stderr
	c.cmd.WaitDelay = time.Second
	stdin, err := c.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	stdio := transport.NewIO(stdout, stdin, nil)
	transport.WithCommandLogger(slog.New(slog.DiscardHandler))(stdio) // what it would log is said by the errors of the calls
	c.client = client.NewClient(stdio, options...)
	return c, nil
}

// converse does what a host does at first, and makes one call that the server has to refuse by itself. It returns the
// revision of the protocol that was agreed on.
func (c *child) converse(ctx context.Context, tools []string) (revision string, err error) {
	if err := c.client.Start(ctx); err != nil {
		return "", fmt.Errorf("the server cannot be spoken to: %w", err)
	}
	hello := mcp.InitializeRequest{}
	hello.Params.ProtocolVersion = mcp.LATEST_PROTOCOL_VERSION
	hello.Params.ClientInfo = mcp.Implementation{Name: "kitebase-mcp-doctor", Version: "1"}
	greeting, err := c.client.Initialize(ctx, hello)
	if err != nil {
		return "", fmt.Errorf("the server did not answer to initialize: %w", err)
	}
	listed, err := c.client.ListTools(ctx, mcp.ListToolsRequest{})
	if err != nil {
		return "", fmt.Errorf("the server did not list its tools: %w", err)
	}
	var names []string
	for _, tool := range listed.Tools {
		names = append(names, tool.Name)
	}
	if err := same(tools, names); err != nil {
		return "", err
	}
	return greeting.ProtocolVersion, c.refusal(ctx, tools[0])
}

// refusal calls a tool without arguments. Every tool has some that it needs, so the call never gets to Kitebase.
func (c *child) refusal(ctx context.Context, tool string) error {
	call := mcp.CallToolRequest{}
	call.Params.Name = tool
	call.Params.Arguments = map[string]any{}
	result, err := c.client.CallTool(ctx, call)
	if err != nil {
		return fmt.Errorf("the server did not answer a call of %s: %w", tool, err)
	}
	if !result.IsError || len(result.Content) == 0 {
		return fmt.Errorf("the server did not refuse a call of %s without arguments", tool)
	}
	if text, ok := mcp.AsTextContent(result.Content[0]); !ok || !strings.HasPrefix(text.Text, "Error: ") {
		return fmt.Errorf("the server refused a call of %s without saying so in words", tool)
	}
	return nil
}

// end closes the input of the child and waits for it: it must take that as the end, and go with exit code 0.
func (c *child) end() error {
	closed := c.client.Close()
	err := c.cmd.Wait()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return fmt.Errorf("the server ended with %s instead of exit code 0", exit)
	case err != nil:
		return fmt.Errorf("the end of the server: %w", err)
	case closed != nil:
		return fmt.Errorf("closing the input of the server: %w", closed)
	}
	return nil
}

// lastWords returns the last line of the child's log. To be called after end.
func (c *child) lastWords() string { return c.stderr.get() }

// lastLine keeps the end of what was written to it.
type lastLine struct {
	mu   sync.Mutex
	tail []byte
}

// maxWords bounds what is kept, in bytes.
const maxWords = 500

func (l *lastLine) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tail = append(l.tail, p...)
	l.tail = l.tail[max(0, len(l.tail)-maxWords):]
	return len(p), nil
}

func (l *lastLine) get() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := strings.TrimSpace(string(l.tail))
	return text[strings.LastIndex(text, "\n")+1:]
}
