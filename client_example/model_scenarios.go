package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/kitebase/kitebase-mcp/client_example/agent"
)

// modelScenarios are those in which the model misbehaves.
func modelScenarios() []scenario {
	return []scenario{
		{
			name:   "loop",
			breaks: "the model asks for a ticket that does not exist, again and again",
			model:  modelFunc(circles),
			ending: "FAILED (stuck) after 4 step(s), 0 email(s) sent",
		},
		{
			name:   "runaway",
			breaks: "the model reads one ticket after the other and never finishes",
			model:  modelFunc(wanders),
			ending: "FAILED (max_steps) after 8 step(s), 0 email(s) sent",
		},
		{
			name:   "cut-off",
			breaks: "a turn is cut off amid its second call; neither that call nor the whole one before it runs",
			model:  modelFunc(rambles),
			ending: "DONE (end_turn) after 5 step(s), 1 email(s) sent",
		},
		{
			name:   "refusal",
			breaks: "the model declines",
			model:  modelFunc(declines),
			ending: "FAILED (refusal) after 1 step(s), 0 email(s) sent",
		},
		{
			name:   "model-unavailable",
			breaks: "the model's API stays down",
			model:  modelFunc(fails),
			ending: "FAILED (model_unavailable) after 1 step(s), 0 email(s) sent",
		},
	}
}

// modelFunc is a model that decides by what it is shown alone.
type modelFunc func(request agent.Request) (agent.Turn, error)

// Next calls f.
func (f modelFunc) Next(_ context.Context, request agent.Request) (agent.Turn, error) {
	return f(request)
}

func circles(request agent.Request) (agent.Turn, error) {
	return ask(len(request.Messages), "get_ticket", "ticket_id", "KITE-412"), nil
}

func wanders(request agent.Request) (agent.Turn, error) {
	n := len(request.Messages) // 1, 3, 5 …
	return ask(n, "get_ticket", "ticket_id", fmt.Sprintf("KITE-%d", 142+n/2)), nil
}

// rambles is the script, but its second turn does not fit into 1024 tokens: a whole call stands beside half of another.
func rambles(request agent.Request) (agent.Turn, error) {
	n := len(request.Messages)
	if n != 3 || request.MaxTokens > 1024 {
		return decide(request), nil
	}
	turn := ask(n, "assign_ticket", "ticket_id", ticketID, "assignee", "priya")
	turn.Calls = append(turn.Calls, agent.ToolUse{
		ID: fmt.Sprintf("toolu_%02d_2", n), Name: "reply_to_customer", Input: json.RawMessage(`{"ticket_id":"KITE-142","messa`),
	})
	turn.StopReason = agent.StopMaxTokens
	return turn, nil
}

func declines(agent.Request) (agent.Turn, error) {
	return agent.Turn{StopReason: agent.StopRefusal}, nil
}

func fails(agent.Request) (agent.Turn, error) {
	return agent.Turn{}, errors.New("ask the model: 529 overloaded")
}
