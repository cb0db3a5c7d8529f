package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/kitebase/kitebase-mcp/client_example/agent"
)

const (
	ticketID = "KITE-142"
	problem  = "locked out after SSO change"
	task     = "Handle ticket " + ticketID + ": a customer is " + problem + ". Read the ticket, find the help article, and reply to the customer."
)

// taskFor returns the task for a ticket. Of other tickets than that of the scenarios nothing is known.
func taskFor(ticket string) string {
	if ticket == "" || ticket == ticketID {
		return task
	}
	return "Handle ticket " + ticket + ". Read the ticket, find the help article that fits, and reply to the customer."
}

// script is a model without a language model: it reads the last result and decides what to do next. It keeps no state,
// so a conversation can be taken up at any point.
//
//	get_ticket ──► search_help ──► reply_to_customer ──► end_turn
//	    └─ error ─► search_tickets ─┘     └─ "may have gone through": the same reply once more, unchecked
//
// The last is what hasty models do, and what the server is there for.
type script struct{}

// Next decides by the result of the last call. It never fails.
func (script) Next(_ context.Context, request agent.Request) (agent.Turn, error) {
	return decide(request), nil
}

func decide(request agent.Request) agent.Turn {
	n := len(request.Messages)
	last := request.Messages[n-1]
	if len(last.Results) == 0 {
		return ask(n, "get_ticket", "ticket_id", ticketID)
	}
	result, call := last.Results[0], request.Messages[n-2].Calls[0]
	switch call.Name {
	case "get_ticket":
		if result.IsError {
			return ask(n, "search_tickets", "query", problem)
		}
		return ask(n, "search_help", "query", problem)
	case "search_tickets":
		if result.IsError || !found(result.Text) {
			return end("I could not read ticket " + ticketID + ", so I did not reply to the customer.")
		}
		return ask(n, "search_help", "query", problem)
	case "search_help":
		return ask(n, "reply_to_customer", "ticket_id", ticketID, "message", message(result))
	default:
		if mayHaveGone(result) && !repeats(request.Messages, call) {
			return turnWith(n, call.Name, call.Input)
		}
		return afterReply(result)
	}
}

func mayHaveGone(result agent.ToolResult) bool {
	return result.IsError && strings.Contains(result.Text, "may have gone through")
}

// repeats tells whether the last call was made before with the same input.
func repeats(messages []agent.Message, last agent.ToolUse) bool {
	times := 0
	for _, said := range messages {
		for _, call := range said.Calls {
			if call.Name == last.Name && string(call.Input) == string(last.Input) {
				times++
			}
		}
	}
	return times > 1
}

// found tells whether the ticket is among those that a search brought.
func found(text string) bool {
	var hits struct{ Tickets []struct{ ID string } }
	read(text, &hits)
	return slices.ContainsFunc(hits.Tickets, func(t struct{ ID string }) bool { return t.ID == ticketID })
}

// message writes the reply, by the best article if there is one.
func message(help agent.ToolResult) string {
	var hits struct{ Articles []struct{ Title string } }
	read(help.Text, &hits)
	if help.IsError || len(hits.Articles) == 0 {
		return "We are looking into why you are locked out and will write again today."
	}
	return fmt.Sprintf("Sorry that you are locked out. The article %q in our help center says how to get back in.", hits.Articles[0].Title)
}

func afterReply(result agent.ToolResult) agent.Turn {
	if result.IsError {
		return end("The reply to " + ticketID + " failed. " + result.Text)
	}
	var reply struct {
		ID string `json:"reply_id"`
	}
	read(result.Text, &reply)
	return end(fmt.Sprintf("I answered %s with reply %s.", ticketID, reply.ID))
}

// read decodes the JSON of a result. A note may stand before it, on lines of its own.
func read(text string, into any) {
	if i := strings.LastIndex(text, "\n"); i >= 0 {
		text = text[i+1:]
	}
	// What cannot be read leaves its zero value, which the callers take for "nothing found".
	_ = json.Unmarshal([]byte(text), into)
}

// ask is a turn that calls a tool with pairs of argument and value.
func ask(n int, tool string, pairs ...string) agent.Turn {
	var members []string
	for pair := range slices.Chunk(pairs, 2) {
		members = append(members, quote(pair[0])+":"+quote(pair[1]))
	}
	return turnWith(n, tool, json.RawMessage("{"+strings.Join(members, ",")+"}"))
}

func turnWith(n int, tool string, input json.RawMessage) agent.Turn {
	use := agent.ToolUse{ID: fmt.Sprintf("toolu_%02d", n), Name: tool, Input: input}
	return agent.Turn{Calls: []agent.ToolUse{use}, StopReason: agent.StopToolUse}
}

func end(text string) agent.Turn { return agent.Turn{Text: text, StopReason: agent.StopEndTurn} }

func quote(text string) string {
	quoted, _ := json.Marshal(text) // a string can always be marshalled
	return string(quoted)
}
