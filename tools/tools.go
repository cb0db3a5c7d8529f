package tools

import (
	"context"
	"reflect"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/kitebase/kitebase-mcp/tools/kitebase"
)

// Tool is one line of the table.
type Tool struct {
	// Name is the name by which hosts call the tool.
	Name string
	// Effect says what a call does to Kitebase.
	Effect Effect
	// Title is the name for people.
	Title string
	// Description is what the model reads, in under 1,000 characters.
	Description string
	// Arguments are all arguments that a call may have, in the order of the schema.
	Arguments []Argument

	success any // the zero value of what a success holds
	run     func(context.Context, values) (*mcp.CallToolResult, error)
}

// Table returns the five tools, which call Kitebase through client. They are safe for concurrent use.
func Table(client *kitebase.Client) []Tool {
	h := handlers{client}
	return []Tool{
		{"search_help", Reads, "Search the help center", searchHelpText, []Argument{helpQueryArgument()}, helpHits{}, h.searchHelp},
		{"get_ticket", Reads, "Read a ticket", getTicketText, []Argument{ticketIDArgument()}, ticket{}, h.getTicket},
		{"search_tickets", Reads, "Search tickets", searchTicketsText, []Argument{ticketQueryArgument(), statusArgument()}, ticketHits{}, h.searchTickets},
		{"assign_ticket", Sets, "Assign a ticket", assignTicketText, assignArguments(), assignment{}, h.assignTicket},
		{"reply_to_customer", Sends, "Send a reply to the customer", replyText, replyArguments(), sentReply{}, h.reply},
	}
}

// New returns the tools of [Table] as an mcp-go server takes them. The handlers return Go errors, see the package
// comment.
func New(client *kitebase.Client) []mcpserver.ServerTool {
	var all []mcpserver.ServerTool
	for _, tool := range Table(client) {
		all = append(all, mcpserver.ServerTool{Tool: tool.MCP(), Handler: tool.Handle})
	}
	return all
}

// MCP returns what tools/list shows of the tool. Hosts that load tools only on demand are asked to load it always.
func (t Tool) MCP() mcp.Tool {
	return mcp.Tool{
		Name:            t.Name,
		Title:           t.Title,
		Description:     t.Description,
		Annotations:     t.Effect.Annotations(t.Title),
		RawInputSchema:  inputSchema(t.Arguments).JSON(),
		RawOutputSchema: schemaOf(reflect.TypeOf(t.success)).JSON(),
		Meta:            mcp.NewMetaFromMap(map[string]any{"anthropic/alwaysLoad": true}),
	}
}

// Handle serves one call with one request to Kitebase. Its errors are those of the client, or say by their methods
// that the arguments were refused before anything went out.
func (t Tool) Handle(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	in, err := bind(request, t.Arguments)
	if err != nil {
		return nil, err
	}
	return t.run(ctx, in)
}

// handlers are the five handlers.
type handlers struct {
	client *kitebase.Client
}
