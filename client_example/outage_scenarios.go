package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/kitebase/kitebase-mcp/client_example/agent"
)

// outageScenarios are those in which the help desk stays broken, or nobody but the server is there to stop a model.
func outageScenarios() []scenario {
	return []scenario{
		{
			name:   "outage",
			breaks: "search_help stays down; the server stops asking, says until when, and one probe finds it well",
			faults: []string{"search_help=status=503:4"},
			server: []string{"--breaker-threshold", "2", "--breaker-cooldown", "3s"},
			model:  persistent{},
			ending: "DONE (end_turn) after 8 step(s), 1 email(s) sent",
		},
		{
			name:   "degraded",
			breaks: "search_help and get_ticket fail once they have worked; copies serve and say so, and the reply reminds of it",
			model:  modelFunc(rereads),
			run:    breakingAt(3, "get_ticket=drop", "search_help=drop"),
			ending: "DONE (end_turn) after 6 step(s), 1 email(s) sent",
		},
		{
			name:   "storm",
			breaks: "50 agents at once while everything is down; the requests stay within the retry budget",
			faults: []string{"*=status=503"},
			server: []string{"--breaker-cooldown", "10m"}, // nothing is probed before the storm is over
			run:    storms,
			ending: "DONE (end_turn) after 3 step(s), 0 email(s) sent",
		},
		{
			name:   "loop-server-guard",
			breaks: "the loop has no guard of its own; the server does not run the third call, and says so",
			model:  modelFunc(circlesUntilTold),
			limits: agent.Config{MaxFailures: -1},
			ending: "DONE (end_turn) after 5 step(s), 0 email(s) sent",
		},
		{
			name:   "loop-no-guard",
			breaks: "the same, but the server has no guard either; each call reaches Kitebase, up to the step limit",
			server: []string{"--repeat-guard=false"},
			model:  modelFunc(circlesUntilTold),
			limits: agent.Config{MaxFailures: -1},
			ending: "FAILED (max_steps) after 8 step(s), 0 email(s) sent",
		},
	}
}

// breakingAt has faults strike from a step on.
func breakingAt(step int, faults ...string) runner {
	return func(ctx context.Context, on stage) (agent.Report, error) {
		var unbroken error
		show := on.limits.OnEvent
		on.limits.OnEvent = func(event agent.Event) {
			show(event)
			if asking, ok := event.(agent.Asking); ok && asking.Step == step {
				unbroken = breakDown(on.desk, faults)
			}
		}
		report, err := agent.Run(ctx, on.job, on.limits)
		return report, errors.Join(err, unbroken)
	}
}

// persistent goes another way while search_help is refused, and comes back when it was told to. A language model cannot
// wait; its host, or the person who asks again, can.
//
//	get_ticket ──► search_help ×2 ──► search_help, refused ──► search_tickets ──► wait ──► search_help ──► reply
type persistent struct{}

// Next decides by the length of the conversation: what is not as expected ends the run.
func (persistent) Next(ctx context.Context, request agent.Request) (agent.Turn, error) {
	n := len(request.Messages)
	result := lastResult(request)
	switch {
	case n == 1:
		return ask(n, "get_ticket", "ticket_id", ticketID), nil
	case n == 3:
		return ask(n, "search_help", "query", problem), nil
	case n == 5 && result.IsError:
		return ask(n, "search_help", "query", "single sign-on identity provider changed"), nil
	case n == 7 && result.IsError:
		return ask(n, "search_help", "query", "account recovery"), nil
	case n == 9 && refusedFor(result.Text) > 0:
		return ask(n, "search_tickets", "query", problem, "status", "resolved"), nil
	case n == 11 && !result.IsError:
		if err := wait(ctx, refusedFor(request.Messages[8].Results[0].Text)); err != nil {
			return agent.Turn{}, err
		}
		turn := ask(n, "search_help", "query", problem)
		turn.Text = "The wait is over. I try search_help once more."
		return turn, nil
	default:
		return decide(request), nil
	}
}

var nextTry = regexp.MustCompile(`was not run: .* The next try is possible in ([0-9.]+s)\.`)

// refusedFor returns how long a call is refused, by the words that the model reads; 0 if it was not.
func refusedFor(text string) time.Duration {
	found := nextTry.FindStringSubmatch(text)
	if found == nil {
		return 0
	}
	refused, _ := time.ParseDuration(found[1]) // what cannot be read is no refusal
	return refused
}

func wait(ctx context.Context, d time.Duration) error {
	over := time.NewTimer(d)
	defer over.Stop()
	select {
	case <-over.C:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for the next try: %w", context.Cause(ctx))
	}
}

// rereads is a careful model: it searches twice, and reads the ticket again before it replies.
func rereads(request agent.Request) (agent.Turn, error) {
	n := len(request.Messages)
	switch result := lastResult(request); {
	case n == 5 && !result.IsError:
		return ask(n, "search_help", "query", "account recovery after an SSO change"), nil
	case n == 7 && !result.IsError:
		return ask(n, "get_ticket", "ticket_id", ticketID), nil
	case n == 9 && !result.IsError:
		return ask(n, "reply_to_customer", "ticket_id", ticketID, "message", message(request.Messages[6].Results[0])), nil
	default:
		return decide(request), nil
	}
}

// circlesUntilTold repeats what cannot succeed. Told that it was not run, it tries once more and then stops.
func circlesUntilTold(request agent.Request) (agent.Turn, error) {
	told := 0
	for _, said := range request.Messages {
		for _, result := range said.Results {
			if strings.HasPrefix(result.Text, "Error: not run. ") {
				told++
			}
		}
	}
	if told >= 2 {
		return end("There seems to be no ticket KITE-412: the same call was refused again and again."), nil
	}
	return circles(request)
}

// lastResult returns the first result of the last message; the zero value if there is none yet.
func lastResult(request agent.Request) agent.ToolResult {
	if results := request.Messages[len(request.Messages)-1].Results; len(results) > 0 {
		return results[0]
	}
	return agent.ToolResult{}
}
