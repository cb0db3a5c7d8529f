package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/kitebase/kitebase-mcp/client_example/agent"
)

// startTimeout bounds the time from the start of the server to its list of tools.
const startTimeout = 10 * time.Second

// session is a server that runs as a child process, and the agent's way to its tools. It is safe for concurrent use.
type session struct {
	client     *client.Client
	tools      []agent.Tool
	idempotent map[string]bool // by tool
}

// connect starts the server and asks for its tools. Its log goes to log. The caller has to Close the session, which ends
// the child.
func connect(ctx context.Context, server string, log io.Writer, args ...string) (*session, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	last := &lastLine{out: log}
	child := transport.NewStdioWithOptions(server, nil, args, transport.WithCommandFunc(
		func(_ context.Context, path string, _, args []string) (*exec.Cmd, error) {
			cmd := exec.Command(path, args...)
			// An empty environment: a KITEBASE_… of the user must not change a scenario.
			cmd.Env = []string{}
			// The pipe must outlive Close: a server that writes to a closed stderr is killed by SIGPIPE.
			cmd.Stderr = last
			cmd.WaitDelay = time.Second
			return cmd, nil
		}),
		// What it would say on os.Stderr when the server dies is said by the error of the call.
		transport.WithCommandLogger(slog.New(slog.DiscardHandler)))
	s := &session{client: client.NewClient(child), idempotent: map[string]bool{}}
	if err := s.open(ctx); err != nil {
		_ = s.Close() // waits for the child, so that its last words are known
		return nil, fmt.Errorf("start the server %s: %w; its last words: %s", server, err, cmp.Or(last.get(), "none"))
	}
	return s, nil
}

func (s *session) open(ctx context.Context) error {
	if err := s.client.Start(ctx); err != nil {
		return err
	}
	hello := mcp.InitializeRequest{}
	hello.Params.ClientInfo = mcp.Implementation{Name: "client_example", Version: "1"}
	if _, err := s.client.Initialize(ctx, hello); err != nil {
		return fmt.Errorf("say hello: %w", err)
	}
	listed, err := s.client.ListTools(ctx, mcp.ListToolsRequest{})
	if err != nil {
		return fmt.Errorf("list its tools: %w", err)
	}
	for _, tool := range listed.Tools {
		schema, err := json.Marshal(tool.InputSchema)
		if err != nil {
			return fmt.Errorf("read the schema of %s: %w", tool.Name, err)
		}
		s.idempotent[tool.Name] = isTrue(tool.Annotations.IdempotentHint)
		s.tools = append(s.tools, agent.Tool{
			Name:        tool.Name,
			Description: tool.Description,
			InputSchema: schema,
			ReadOnly:    isTrue(tool.Annotations.ReadOnlyHint),
		})
	}
	return nil
}

func isTrue(hint *bool) bool { return hint != nil && *hint }

// Close ends the child and waits for it: its stdin is closed, and if that is not enough it is terminated, then killed.
func (s *session) Close() error {
	if err := s.client.Close(); err != nil {
		return fmt.Errorf("end the server: %w", err)
	}
	return nil
}

// List returns the tools of the server.
func (s *session) List() []agent.Tool { return s.tools }

// Call calls a tool and tells the server how much time the run has left. The error means that no answer came.
func (s *session) Call(ctx context.Context, call agent.Call) (agent.Result, error) {
	request := mcp.CallToolRequest{}
	request.Params.Name = call.Name
	request.Params.Arguments = call.Input
	if call.Remaining > 0 {
		request.Params.Meta = mcp.NewMetaFromMap(map[string]any{"io.kitebase/deadline-ms": call.Remaining.Milliseconds()})
	}
	answer, err := s.client.CallTool(ctx, request)
	if err != nil {
		what, check := unconfirmed(call)
		return agent.Result{Change: what, Check: check}, fmt.Errorf("call %s: %w", call.Name, err)
	}
	result := agent.Result{Text: text(answer), IsError: answer.IsError, Outcome: outcomeOf(answer)}
	if result.Outcome == agent.Done {
		result.Change = confirmed(call, result.Text)
	} else {
		result.Change, result.Check = unconfirmed(call)
	}
	result.Settles = !answer.IsError && (s.idempotent[call.Name] || replayed(answer))
	return result, nil
}

// text joins what a result says. Blocks that are no text cannot be shown to every model and are left out.
func text(answer *mcp.CallToolResult) string {
	var parts []string
	for _, content := range answer.Content {
		if block, ok := mcp.AsTextContent(content); ok {
			parts = append(parts, block.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// lastLine passes a log on and keeps its last line.
type lastLine struct {
	out  io.Writer
	mu   sync.Mutex
	text string
}

func (l *lastLine) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if line := strings.TrimSpace(string(p)); line != "" {
		l.text = line[strings.LastIndex(line, "\n")+1:]
	}
	return l.out.Write(p)
}

func (l *lastLine) get() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text
}
