package main

import (
	"encoding/json"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/kitebase/kitebase-mcp/client_example/agent"
)

// outcomeOf returns what the server says became of a call. It says so of failures only; a success is done. A failure of
// which nothing is said is unknown, whoever the server is.
func outcomeOf(answer *mcp.CallToolResult) agent.Outcome {
	if !answer.IsError {
		return agent.Done
	}
	if answer.Meta != nil {
		if told, ok := answer.Meta.AdditionalFields["io.kitebase/error"].(map[string]any); ok {
			if outcome, ok := told["outcome"].(string); ok {
				return agent.Outcome(outcome)
			}
		}
	}
	return agent.Unknown
}

// change names what a call changed, in the words of the hand-over note: as a fact when it is done, as a thing when nobody
// knows. Calls that only read have no name for it.
func change(call agent.Call, outcome agent.Outcome, resultText string) string {
	var in struct {
		TicketID string `json:"ticket_id"`
		Assignee string `json:"assignee"`
	}
	// The arguments are the model's; what is missing there is missing in the note.
	_ = json.Unmarshal(call.Input, &in)
	switch {
	case call.Name == "reply_to_customer" && outcome == agent.Done:
		var reply struct {
			ID string `json:"reply_id"`
		}
		read(resultText, &reply)
		return "a reply was sent: " + reply.ID
	case call.Name == "reply_to_customer":
		return "a reply to " + in.TicketID
	case call.Name == "assign_ticket" && outcome == agent.Done:
		return fmt.Sprintf("%s was assigned to %s", in.TicketID, in.Assignee)
	case call.Name == "assign_ticket":
		return fmt.Sprintf("the assignment of %s to %s", in.TicketID, in.Assignee)
	default:
		return ""
	}
}
