package tools

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"
)

type assignment struct {
	summary
	DataNote string `json:"data_note" about:"How to read what people wrote."`
	notes
}

func assignArguments() []Argument { return []Argument{ticketIDArgument(), assigneeArgument()} }

// AssignArguments returns the ticket id and assignee of an assign_ticket call, normalised as its handler does, or the
// error that the handler would answer with.
func AssignArguments(request mcp.CallToolRequest) (ticketID, assignee string, err error) {
	in, err := bind(request, assignArguments())
	return in["ticket_id"], in["assignee"], err
}

func (h handlers) assignTicket(ctx context.Context, in values) (*mcp.CallToolResult, error) {
	assigned, err := h.client.AssignTicket(ctx, in["ticket_id"], in["assignee"])
	if err != nil {
		return nil, wordAssignError(err, in["ticket_id"])
	}
	worded := assignment{summary: summarize(assigned), DataNote: data}
	worded.clean(worded.cleaned)
	return success(worded), nil
}
