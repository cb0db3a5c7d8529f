package plain

import (
	"context"
	"net/http"
	"net/url"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
)

// Call is one call of a tool: it returns what Kitebase answered.
type Call func(context.Context, mcp.CallToolRequest) (any, error)

// Server returns an MCP server with the five tools; each call goes through around.
func Server(name string, client *Client, around func(Call) Call) *mcpserver.MCPServer {
	s := mcpserver.NewMCPServer(name, "1")
	add := func(tool mcp.Tool, call Call) { s.AddTool(tool, told(around(call))) }
	read := mcp.WithReadOnlyHintAnnotation(true)
	id := mcp.WithString("ticket_id", mcp.Required(), mcp.Description("Ticket id, such as KITE-142"))
	query := mcp.WithString("query", mcp.Required(), mcp.Description("Words to search for"))

	add(mcp.NewTool("search_help", mcp.WithDescription("Search the help center"), query, read), client.searchHelp)
	add(mcp.NewTool("get_ticket", mcp.WithDescription("Get a ticket with its messages"), id, read), client.getTicket)
	add(mcp.NewTool("search_tickets", mcp.WithDescription("Search tickets"), query, read,
		mcp.WithString("status", mcp.Description("Only tickets of this status"))), client.searchTickets)
	add(mcp.NewTool("assign_ticket", mcp.WithDescription("Assign a ticket to an agent"), id,
		mcp.WithString("assignee", mcp.Required(), mcp.Description("Name of the agent"))), client.assignTicket)
	add(mcp.NewTool("reply_to_customer", mcp.WithDescription("Send a reply to the customer of a ticket"), id,
		mcp.WithString("message", mcp.Required(), mcp.Description("Text of the reply"))), client.replyToCustomer)
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

func (c *Client) searchHelp(ctx context.Context, request mcp.CallToolRequest) (any, error) {
	query, err := request.RequireString("query")
	if err != nil {
		return nil, err
	}
	return c.get(ctx, "/v1/help/search", url.Values{"query": {query}})
}

func (c *Client) getTicket(ctx context.Context, request mcp.CallToolRequest) (any, error) {
	id, err := request.RequireString("ticket_id")
	if err != nil {
		return nil, err
	}
	return c.get(ctx, "/v1/tickets/"+url.PathEscape(id), nil)
}

func (c *Client) searchTickets(ctx context.Context, request mcp.CallToolRequest) (any, error) {
	query, err := request.RequireString("query")
	if err != nil {
		return nil, err
	}
	values := url.Values{"query": {query}}
	if status := request.GetString("status", ""); status != "" {
		values.Set("status", status)
	}
	return c.get(ctx, "/v1/tickets", values)
}

func (c *Client) assignTicket(ctx context.Context, request mcp.CallToolRequest) (any, error) {
	id, err := request.RequireString("ticket_id")
	if err != nil {
		return nil, err
	}
	assignee, err := request.RequireString("assignee")
	if err != nil {
		return nil, err
	}
	return c.do(ctx, http.MethodPut, "/v1/tickets/"+url.PathEscape(id)+"/assignee", map[string]string{"assignee": assignee})
}

func (c *Client) replyToCustomer(ctx context.Context, request mcp.CallToolRequest) (any, error) {
	id, err := request.RequireString("ticket_id")
	if err != nil {
		return nil, err
	}
	message, err := request.RequireString("message")
	if err != nil {
		return nil, err
	}
	return c.do(ctx, http.MethodPost, "/v1/tickets/"+url.PathEscape(id)+"/replies", map[string]string{"message": message})
}
