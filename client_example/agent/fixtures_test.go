package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/kitebase/kitebase-mcp/client_example/agent"
	"github.com/stretchr/testify/require"
)

// modelFunc is a model that decides by step, from 0, and by what it was shown.
type modelFunc func(ctx context.Context, step int, request agent.Request) (agent.Turn, error)

// model counts the steps of a modelFunc and keeps the requests.
type model struct {
	decide   modelFunc
	requests []agent.Request
}

func (m *model) Next(ctx context.Context, request agent.Request) (agent.Turn, error) {
	m.requests = append(m.requests, request)
	return m.decide(ctx, len(m.requests)-1, request)
}

// tape is a model that plays turns whatever it gets to see, and repeats the last one for ever.
func tape(turns ...agent.Turn) *model {
	return &model{decide: func(_ context.Context, step int, _ agent.Request) (agent.Turn, error) {
		return turns[min(step, len(turns)-1)], nil
	}}
}

func says(text string) agent.Turn { return agent.Turn{Text: text, StopReason: agent.StopEndTurn} }

func stops(reason agent.StopReason) agent.Turn { return agent.Turn{StopReason: reason} }

// asks is a turn with a call for each "name input"; the input may be left out.
func asks(calls ...string) agent.Turn {
	turn := agent.Turn{StopReason: agent.StopToolUse}
	for i, call := range calls {
		name, input, _ := strings.Cut(call, " ")
		turn.Calls = append(turn.Calls, agent.ToolUse{ID: fmt.Sprintf("call_%d", i+1), Name: name, Input: json.RawMessage(input)})
	}
	return turn
}

// toolbox holds a tool for each name; "look…" only reads. It keeps the calls in the order of their start.
type toolbox struct {
	run   map[string]func(ctx context.Context, call agent.Call) (agent.Result, error)
	mu    sync.Mutex
	calls []agent.Call
}

func (b *toolbox) List() []agent.Tool {
	var tools []agent.Tool
	for name := range b.run {
		tools = append(tools, agent.Tool{Name: name, ReadOnly: strings.HasPrefix(name, "look")})
	}
	return tools
}

func (b *toolbox) Call(ctx context.Context, call agent.Call) (agent.Result, error) {
	b.mu.Lock()
	b.calls = append(b.calls, call)
	b.mu.Unlock()
	return b.run[call.Name](ctx, call)
}

// texts returns name and input of each call that ran.
func (b *toolbox) texts() []string {
	texts := []string{}
	for _, call := range b.calls {
		texts = append(texts, call.Name+" "+string(call.Input))
	}
	return texts
}

type toolFunc = func(ctx context.Context, call agent.Call) (agent.Result, error)

// answers is a tool that answers at once.
func answers(result agent.Result) toolFunc {
	return func(context.Context, agent.Call) (agent.Result, error) { return result, nil }
}

// breaks is a tool that gives no answer.
func breaks(message string) toolFunc {
	return func(context.Context, agent.Call) (agent.Result, error) {
		return agent.Result{}, errors.New(message)
	}
}

func ok(text string) agent.Result { return agent.Result{Text: text} }

func failed(text string) agent.Result { return agent.Result{Text: "Error: " + text, IsError: true} }

// run runs the model with the tools, and checks the rules of the wire on the conversation whatever the test is about.
func run(t require.TestingT, m agent.Model, tools map[string]toolFunc, cfg agent.Config) (agent.Report, *toolbox) {
	box := &toolbox{run: tools}
	report, err := agent.Run(context.Background(), agent.Job{Task: "Handle KITE-142.", Model: m, Tools: box}, cfg)
	require.NoError(t, err)
	requirePaired(t, report.Messages)
	return report, box
}

// requirePaired holds a conversation to the rules of the Messages API: it begins with the user, no user speaks twice in a
// row, an assistant does only without calls (a paused turn and its continuation), no message is empty, and the calls of a
// turn are answered in the next message, one result for each, in their order.
func requirePaired(t require.TestingT, messages []agent.Message) {
	for i, message := range messages {
		require.False(t, message.Role == agent.User && i > 0 && messages[i-1].Role == agent.User, "message %d is of the wrong role", i)
		require.True(t, message.Text != "" || message.Calls != nil || message.Results != nil || message.Raw != nil, "message %d is empty", i)
		var asked, answered []string
		if i > 0 {
			for _, use := range messages[i-1].Calls {
				asked = append(asked, use.ID)
			}
		}
		for _, result := range message.Results {
			answered = append(answered, result.ID)
			require.NotEmpty(t, result.Text)
		}
		require.Equal(t, asked, answered, "message %d must answer the calls before it", i)
	}
	require.Equal(t, agent.User, messages[0].Role)
	require.Empty(t, messages[len(messages)-1].Calls, "the last calls have no results")
}

// lastResults returns the results in the last message that has any.
func lastResults(t *testing.T, report agent.Report) []agent.ToolResult {
	t.Helper()
	for i := len(report.Messages) - 1; i >= 0; i-- {
		if results := report.Messages[i].Results; results != nil {
			return results
		}
	}
	t.Fatal("no results in the conversation")
	return nil
}

// play is a tool that answers with one result after the other.
func play(results []agent.Result) toolFunc {
	return func(context.Context, agent.Call) (agent.Result, error) {
		result := results[0]
		results = results[1:]
		return result, nil
	}
}
