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
const startTimeout = 30 * time.Second // as hosts have it

// session is a server that runs as a child process, and the agent's way to its tools. It is safe for concurrent use.
type session struct {
	client     *client.Client
	tools      []agent.Tool
	idempotent map[string]bool // by tool

	instructions string // of the server, for a model
}

// connect starts the server and asks for its tools. Its log goes to log. The caller has to Close the session, which ends
// the child.
func connect(ctx context.Context, server string, log io.Writer, args ...string) (*session, error) {
	// An empty environment: a KITEBASE_… of the user must not change a scenario.
	return start(ctx, []string{}, log, append([]string{server}, args...))
}

// connect starts the server, or begins a session with the one that runs.
func (a abroad) connect(ctx context.Context, log io.Writer) (*session, error) {
	if a.url == "" {
		return start(ctx, a.env, log, a.command)
	}
	headers := map[string]string{}
	if a.token != "" {
		headers["Authorization"] = "Bearer " + a.token
	}
	c, err := client.NewStreamableHttpClient(a.url, transport.WithHTTPHeaders(headers))
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", a.url, err)
	}
	s := &session{client: c, idempotent: map[string]bool{}}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := s.open(ctx); err != nil {
		_ = s.Close() // what went wrong with it is known
		return nil, fmt.Errorf("connect to %s: %w", a.url, err)
	}
	return s, nil
}

// start starts the command with an environment.
func start(ctx context.Context, env []string, log io.Writer, command []string) (*session, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	last := &lastLine{out: log}
	child := transport.NewStdioWithOptions(command[0], nil, command[1:], transport.WithCommandFunc(
		func(_ context.Context, path string, _, args []string) (*exec.Cmd, error) {
			cmd := exec.Command(path, args...)
			cmd.Env = env
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
		return nil, fmt.Errorf("start the server %s: %w; its last words: %s", command[0], err, cmp.Or(last.get(), "none"))
	}
	return s, nil
}

func (s *session) open(ctx context.Context) error {
	if err := s.client.Start(ctx); err != nil {
		return err
	}
	hello := mcp.InitializeRequest{}
	hello.Params.ClientInfo = mcp.Implementation{Name: "client_example", Version: "1"}
	greeting, err := s.client.Initialize(ctx, hello)
	if err != nil {
		return fmt.Errorf("say hello: %w", err)
	}
	s.instructions = greeting.Instructions
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
