package main

import (
	"cmp"
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/kitebase/kitebase-mcp/client_example/agent"
)

// outcomeOf returns what the server says became of a call. It says so of failures only; a success is done. A failure of
// which nothing is said is unknown, whoever the server is.
func outcomeOf(answer *mcp.CallToolResult) agent.Outcome {
	if !answer.IsError {
		return agent.Done
	}
	if told, ok := meta(answer, "io.kitebase/error").(map[string]any); ok {
		if outcome, ok := told["outcome"].(string); ok {
			return agent.Outcome(outcome)
		}
	}
	return agent.Unknown
}

// replayed tells whether the server says that the thing had been done before and was not done again.
func replayed(answer *mcp.CallToolResult) bool {
	return meta(answer, "io.kitebase/replayed") == true
}

func meta(answer *mcp.CallToolResult, name string) any {
	if answer.Meta == nil {
		return nil
	}
	return answer.Meta.AdditionalFields[name]
}

// confirmed names what a call changed, as a fact of the hand-over note, from the server's answer: what the model asked
// for stands in only for what the answer lacks. Calls that only read have no name for it.
func confirmed(call agent.Call, answer string) string {
	asked := argumentsOf(call)
	switch call.Name {
	case "reply_to_customer":
		var reply struct {
			ID string `json:"reply_id"`
		}
		read(answer, &reply)
		if reply.ID == "" {
			return "a reply was sent to " + asked.ticket
		}
		return "a reply was sent: " + reply.ID
	case "assign_ticket":
		var ticket struct{ ID, Assignee string }
		read(answer, &ticket)
		return cmp.Or(ticket.ID, asked.ticket) + " was assigned to " + cmp.Or(ticket.Assignee, asked.assignee)
	default:
		return ""
	}
}

// unconfirmed names what a call may have changed, as a thing, and how to find out.
func unconfirmed(call agent.Call) (what, check string) {
	asked := argumentsOf(call)
	switch call.Name {
	case "reply_to_customer":
		return "a reply to " + asked.ticket, "read the messages of " + asked.ticket
	case "assign_ticket":
		return "the assignment of " + asked.ticket + " to " + asked.assignee, "see who " + asked.ticket + " is assigned to"
	default:
		return "", ""
	}
}

type arguments struct{ ticket, assignee string }

// argumentsOf reads the arguments of a call for people. They are the model's: what is missing there is named as a gap, and
// what is long is cut.
func argumentsOf(call agent.Call) arguments {
	var in struct {
		TicketID string `json:"ticket_id"`
		Assignee string `json:"assignee"`
	}
	_ = json.Unmarshal(call.Input, &in) // what cannot be read is missing
	return arguments{
		ticket:   cmp.Or(shorten(oneLine(in.TicketID)), "an unnamed ticket"),
		assignee: cmp.Or(shorten(oneLine(in.Assignee)), "somebody"),
	}
}
