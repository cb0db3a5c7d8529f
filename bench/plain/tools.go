package plain

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/kitebase/kitebase-mcp/bench/kitebase"
)

// Call is one call of a tool: it returns what Kitebase answered.
type Call func(context.Context, mcp.CallToolRequest) (any, error)

// Server returns an MCP server with the five tools; each call goes through around.
func Server(name string, client *kitebase.Client, around func(Call) Call) *mcpserver.MCPServer {
	s := mcpserver.NewMCPServer(name, "1")
	d := desk{client}
	add := func(tool mcp.Tool, call Call) { s.AddTool(tool, told(around(call))) }
	read := mcp.WithReadOnlyHintAnnotation(true)
	id := mcp.WithString("ticket_id", mcp.Required(), mcp.Description("Ticket id, such as KITE-142"))
	query := mcp.WithString("query", mcp.Required(), mcp.Description("Words to search for"))

	add(mcp.NewTool("search_help", mcp.WithDescription("Search the help center"), query, read), d.searchHelp)
	add(mcp.NewTool("get_ticket", mcp.WithDescription("Get a ticket with its messages"), id, read), d.getTicket)
	add(mcp.NewTool("search_tickets", mcp.WithDescription("Search tickets"), query, read,
		mcp.WithString("status", mcp.Description("Only tickets of this status"))), d.searchTickets)
	add(mcp.NewTool("assign_ticket", mcp.WithDescription("Assign a ticket to an agent"), id,
		mcp.WithString("assignee", mcp.Required(), mcp.Description("Name of the agent"))), d.assignTicket)
	add(mcp.NewTool("reply_to_customer", mcp.WithDescription("Send a reply to the customer of a ticket"), id,
		mcp.WithString("message", mcp.Required(), mcp.Description("Text of the reply"))), d.replyToCustomer)
	return s
}

// told turns an error into a result that says so.
func told(call Call) mcpserver.ToolHandlerFunc {
	return func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		answer, err := call(ctx, request)
		if err != nil {
			return mcp.NewToolResultErrorFromErr(request.Params.Name+" failed", err), nil
		}
		return mcp.NewToolResultJSON(answer)
	}
}

// desk has the handlers.
type desk struct{ client *kitebase.Client }

func (d desk) searchHelp(ctx context.Context, request mcp.CallToolRequest) (any, error) {
	query, err := request.RequireString("query")
	if err != nil {
		return nil, err
	}
	return d.client.SearchHelp(ctx, query)
}

func (d desk) getTicket(ctx context.Context, request mcp.CallToolRequest) (any, error) {
	id, err := request.RequireString("ticket_id")
	if err != nil {
		return nil, err
	}
	return d.client.GetTicket(ctx, id)
}

func (d desk) searchTickets(ctx context.Context, request mcp.CallToolRequest) (any, error) {
	query, err := request.RequireString("query")
	if err != nil {
		return nil, err
	}
	return d.client.SearchTickets(ctx, query, request.GetString("status", ""))
}

func (d desk) assignTicket(ctx context.Context, request mcp.CallToolRequest) (any, error) {
	id, err := request.RequireString("ticket_id")
	if err != nil {
		return nil, err
	}
	assignee, err := request.RequireString("assignee")
	if err != nil {
		return nil, err
	}
	return d.client.AssignTicket(ctx, id, assignee)
}

func (d desk) replyToCustomer(ctx context.Context, request mcp.CallToolRequest) (any, error) {
	id, err := request.RequireString("ticket_id")
	if err != nil {
		return nil, err
	}
	message, err := request.RequireString("message")
	if err != nil {
		return nil, err
	}
	return d.client.Reply(ctx, id, message)
}
