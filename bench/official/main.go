// Command official is the MCP server unguarded on the official Go SDK, as its examples do it: typed handlers, whose schemas
// are derived from structs. It serves stdio, and takes Kitebase from KITEBASE_URL and KITEBASE_TOKEN. It is there to be
// compared with.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/kitebase/kitebase-mcp/bench/kitebase"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "official: "+err.Error())
		os.Exit(1)
	}
}

type helpQuery struct {
	Query string `json:"query" jsonschema:"Words to search for"`
}

type ticketQuery struct {
	Query  string `json:"query" jsonschema:"Words to search for"`
	Status string `json:"status,omitempty" jsonschema:"Only tickets of this status"`
}

type ticketID struct {
	TicketID string `json:"ticket_id" jsonschema:"Ticket id, such as KITE-142"`
}

type assignment struct {
	TicketID string `json:"ticket_id" jsonschema:"Ticket id, such as KITE-142"`
	Assignee string `json:"assignee" jsonschema:"Name of the agent"`
}

type reply struct {
	TicketID string `json:"ticket_id" jsonschema:"Ticket id, such as KITE-142"`
	Message  string `json:"message" jsonschema:"Text of the reply"`
}

func run() error {
	client, err := kitebase.FromEnvironment()
	if err != nil {
		return err
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "official", Version: "1"}, nil)
	read := &mcp.ToolAnnotations{ReadOnlyHint: true}
	mcp.AddTool(s, &mcp.Tool{Name: "search_help", Description: "Search the help center", Annotations: read},
		handler(func(ctx context.Context, in helpQuery) (any, error) { return client.SearchHelp(ctx, in.Query) }))
	mcp.AddTool(s, &mcp.Tool{Name: "get_ticket", Description: "Get a ticket with its messages", Annotations: read},
		handler(func(ctx context.Context, in ticketID) (any, error) { return client.GetTicket(ctx, in.TicketID) }))
	mcp.AddTool(s, &mcp.Tool{Name: "search_tickets", Description: "Search tickets", Annotations: read},
		handler(func(ctx context.Context, in ticketQuery) (any, error) {
			return client.SearchTickets(ctx, in.Query, in.Status)
		}))
	mcp.AddTool(s, &mcp.Tool{Name: "assign_ticket", Description: "Assign a ticket to an agent"},
		handler(func(ctx context.Context, in assignment) (any, error) {
			return client.AssignTicket(ctx, in.TicketID, in.Assignee)
		}))
	mcp.AddTool(s, &mcp.Tool{Name: "reply_to_customer", Description: "Send a reply to the customer of a ticket"},
		handler(func(ctx context.Context, in reply) (any, error) { return client.Reply(ctx, in.TicketID, in.Message) }))
	return s.Run(context.Background(), &mcp.StdioTransport{})
}

// handler makes a call of Kitebase the handler of a tool, whose answer the SDK encodes.
func handler[In any](call func(context.Context, In) (any, error)) mcp.ToolHandlerFor[In, any] {
	return func(ctx context.Context, _ *mcp.CallToolRequest, in In) (*mcp.CallToolResult, any, error) {
		answer, err := call(ctx, in)
		return nil, answer, err
	}
}
