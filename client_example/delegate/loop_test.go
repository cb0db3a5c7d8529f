package delegate_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/client_example/agent"
	"github.com/kitebase/kitebase-mcp/client_example/delegate"
)

// modelFunc decides by what it is shown.
type modelFunc func(ctx context.Context, request agent.Request) (agent.Turn, error)

func (f modelFunc) Next(ctx context.Context, request agent.Request) (agent.Turn, error) {
	return f(ctx, request)
}

func ask(name, input string) agent.Turn {
	use := agent.ToolUse{ID: "call_" + name + input, Name: name, Input: json.RawMessage(input)}
	return agent.Turn{Calls: []agent.ToolUse{use}, StopReason: agent.StopToolUse}
}

func says(text string) agent.Turn { return agent.Turn{Text: text, StopReason: agent.StopEndTurn} }

// turns plays one turn after the other, by the length of the conversation: a model has no state of its own.
func turns(all ...agent.Turn) modelFunc {
	return func(_ context.Context, request agent.Request) (agent.Turn, error) {
		return all[min(len(request.Messages)/2, len(all)-1)], nil
	}
}

type toolFunc func(ctx context.Context, call agent.Call) (agent.Result, error)

// help is a set of tools in which each call goes to one function.
type help struct{ call toolFunc }

func (help) List() []agent.Tool {
	return []agent.Tool{{Name: "search_help", ReadOnly: true}, {Name: "get_ticket", ReadOnly: true}, {Name: "reply_to_customer"}}
}

func (h help) Call(ctx context.Context, call agent.Call) (agent.Result, error) {
	return h.call(ctx, call)
}

func finds(context.Context, agent.Call) (agent.Result, error) {
	return agent.Result{Text: `{"articles":[{"id":"account-recovery#2"}]}`}, nil
}

func fails(context.Context, agent.Call) (agent.Result, error) {
	return agent.Result{Text: `Error: search_help failed after 2 tries, "down#1"`, IsError: true}, nil
}

const goodText = `{"summary": "Reset it under Settings > SSO.", "sources": ["account-recovery#2"]}`

var search = ask("search_help", `{"query": "sso"}`)

func order(patience time.Duration) delegate.Order {
	return delegate.Order{Task: "What fits KITE-142?", Patience: patience, Tell: func(agent.Event) {}}
}

func TestLoopReadsTheFinding(t *testing.T) {
	for name, test := range map[string]struct{ text, bad string }{
		"plain":                  {goodText, ""},
		"fenced":                 {"Here you are:\n```json\n" + goodText + "\n```", ""},
		"no object":              {"Reset the link.", "an answer that is no finding"},
		"nothing":                {"", "an answer that is no finding"},
		"half an object":         {goodText[:40], "an answer that is no finding"},
		"braces the wrong way":   {"} or {", "an answer that is no finding"},
		"of another kind":        {`{"summary": 7}`, "an answer that is no finding"},
		"a source made up":       {strings.Replace(goodText, "#2", "#9", 1), "a source named that no tool brought"},
		"one that is half right": {strings.Replace(goodText, `]`, `, "KITE-7"]`, 1), "a source named that no tool brought"},
		"part of a name":         {strings.Replace(goodText, "account-recovery#2", "account", 1), "a source named that no tool brought"},
	} {
		t.Run(name, func(t *testing.T) {
			loop := delegate.Loop{Model: turns(search, says(test.text)), Tools: help{finds}}
			found, err := loop.Run(t.Context(), order(0))
			if test.bad == "" {
				require.NoError(t, err)
				require.Equal(t, good, found)
				return
			}
			require.ErrorIs(t, err, delegate.ErrBadResult)
			require.EqualError(t, err, "bad result: "+test.bad)
		})
	}
	t.Run("a source in the text of an error", func(t *testing.T) {
		loop := delegate.Loop{Model: turns(search, says(strings.Replace(goodText, "account-recovery#2", "down#1", 1))), Tools: help{fails}}
		_, err := loop.Run(t.Context(), order(0))
		require.ErrorIs(t, err, delegate.ErrBadResult)
	})
}

func TestLoopThatAGuardEnds(t *testing.T) {
	for name, test := range map[string]struct {
		model agent.Model
		text  string
	}{
		"too many steps": {turns(search), "deep-research (the run hit its 8-step limit, 1 try)"},
		"no model": {modelFunc(func(context.Context, agent.Request) (agent.Turn, error) {
			return agent.Turn{}, errors.New("529 at https://example.test")
		}), "deep-research (Claude could not be reached, 1 try)"},
		"a refusal": {turns(agent.Turn{StopReason: agent.StopRefusal}), "deep-research (Claude declined to continue, 1 try)"},
	} {
		bubble(t, name, func(t *testing.T) {
			n := 0
			growing := help{func(context.Context, agent.Call) (agent.Result, error) {
				n++
				return agent.Result{Text: strings.Repeat("x", n)}, nil // no two answers are equal
			}}
			d, err := delegate.New(delegate.Config{}, delegate.DeepResearch(test.model, growing))
			require.NoError(t, err)
			_, err = d.Do(t.Context(), "task", nil)
			require.EqualError(t, err, "every path failed: "+test.text)
		})
	}
}

func TestLoopOnlyReads(t *testing.T) {
	var offered []string
	writes := modelFunc(func(_ context.Context, request agent.Request) (agent.Turn, error) {
		offered = nil
		for _, tool := range request.Tools {
			offered = append(offered, tool.Name)
		}
		return turns(ask("reply_to_customer", `{"message": "Hello."}`), says(goodText))(nil, request)
	})
	called := false
	tools := help{func(ctx context.Context, call agent.Call) (agent.Result, error) {
		called = true
		return finds(ctx, call)
	}}
	for name, test := range map[string]struct {
		path delegate.Path
		want []string
	}{
		"deep-research": {delegate.DeepResearch(writes, tools), []string{"search_help", "get_ticket"}},
		"quick-search":  {delegate.QuickSearch(writes, tools), []string{"search_help"}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, name, test.path.Name)
			_, err := test.path.Run(t.Context(), order(0))
			require.Error(t, err)
			require.Equal(t, test.want, offered)
			require.False(t, called, "a loop that may be run again must not change anything")
		})
	}
}

func TestQuickSearchAnswersInItsSecondTurn(t *testing.T) {
	searches := 0
	counted := help{func(ctx context.Context, call agent.Call) (agent.Result, error) {
		searches++
		return finds(ctx, call)
	}}
	again := turns(search, ask("search_help", `{"query": "login"}`), says(goodText))
	_, err := delegate.QuickSearch(again, counted).Run(t.Context(), order(0))
	require.ErrorContains(t, err, "max_steps")
	require.Equal(t, 2, searches)
	found, err := delegate.QuickSearch(turns(search, says(goodText)), counted).Run(t.Context(), order(0))
	require.NoError(t, err)
	require.Equal(t, good, found)
}
