package server

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/server/access"
	"github.com/kitebase/kitebase-mcp/server/audit"
	"github.com/kitebase/kitebase-mcp/server/resilience"
	"github.com/kitebase/kitebase-mcp/tools"
)

// audited returns the handler of a guarded tool so that each of its calls is written down, before it is answered, if the
// tool changes something and somebody wants to know.
func (s *Server) audited(tool tools.Tool, guarded mcpserver.ToolHandlerFunc) mcpserver.ToolHandlerFunc {
	if s.config.Audit == nil || tool.Effect == tools.Reads {
		return guarded
	}
	return func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		var seen resilience.Observation
		result, err := guarded(context.WithValue(ctx, auditKey{}, &seen), request)
		s.config.Audit.Write(ctx, entry(ctx, request, seen, result))
		return result, err
	}
}

// auditKey is where in the context [Server.observe] leaves how the call ended.
type auditKey struct{}

func observeForAudit(ctx context.Context, seen resilience.Observation) {
	if wanted, ok := ctx.Value(auditKey{}).(*resilience.Observation); ok {
		*wanted = seen
	}
}

// entry says what a call did. Its arguments are used as the handler takes them; what it would refuse is not repeated.
func entry(ctx context.Context, request mcp.CallToolRequest, seen resilience.Observation, result *mcp.CallToolResult) audit.Entry {
	e := audit.Entry{
		Event: audit.Call, Call: seen.CallID, Who: caller(ctx, request), Tool: seen.Tool,
		Outcome: seen.Outcome.String(), Kind: string(seen.Kind), Key: seen.Key, Attempts: seen.Attempts,
	}
	switch seen.Tool {
	case "assign_ticket":
		ticket, assignee, _ := tools.AssignArguments(request) // "" for what the handler refused
		e.Ticket = ticket
		if seen.Outcome != idempotency.NotDone { // then it is no name, but whatever a model wrote
			e.Assignee = assignee
		}
	case "reply_to_customer":
		ticket, message, err := tools.ReplyArguments(request)
		e.Ticket = ticket
		if err == nil && seen.Attempts > 0 { // without a ledger the handler makes the key
			e.Key = cmp.Or(e.Key, idempotency.Key(ticket, message))
		}
		if result != nil && !result.IsError {
			e.ReplyID = tools.ReplyName(result)
		}
	}
	if seen.Replayed {
		e.Outcome = "replayed"
	}
	return e
}

// settled writes down what became of a reply whose call had ended as unknown.
func (s *Server) settled(ctx context.Context, record idempotency.Record, outcome idempotency.Outcome) {
	s.config.Audit.Write(ctx, audit.Entry{
		Event: audit.Settled, Call: resilience.CallID(ctx), Who: s.config.Settler, Tool: record.Tool, Ticket: record.Group,
		Outcome: outcome.String(), Key: record.Key, ReplyID: replyOf(record), Attempts: record.Attempts,
	})
}

// replyOf returns the id of the reply that a record is about, or "".
func replyOf(record idempotency.Record) string {
	var result mcp.CallToolResult
	if json.Unmarshal(record.Result, &result) != nil {
		return ""
	}
	return tools.ReplyName(&result)
}

// stdioKey marks the context of everything that came over stdio.
type stdioKey struct{}

// caller returns who made a call. On stdio that is the person at this machine, by the program that it names itself; over
// HTTP the name of the token, or "http" if none is asked for.
func caller(ctx context.Context, request mcp.CallToolRequest) string {
	if known, ok := access.From(ctx); ok {
		return who(known)
	}
	if ctx.Value(stdioKey{}) == nil {
		return "http"
	}
	if name := clientName(ctx, request); name != "" {
		return "local (" + name + ")"
	}
	return "local"
}

// who names a caller for people. A subject that calls itself "local" or like somebody else's token is told apart by the way
// it came in.
func who(caller access.Caller) string { return caller.Way + ":" + caller.Name }

// clientName returns what the client calls itself, in the request or in the handshake of its session, or "". It can claim
// anything.
func clientName(ctx context.Context, request mcp.CallToolRequest) string {
	name := ""
	if info := request.Params.Meta.ClientInfo(); info != nil {
		name = info.Name
	}
	if session, ok := mcpserver.ClientSessionFromContext(ctx).(mcpserver.SessionWithClientInfo); ok && name == "" {
		name = session.GetClientInfo().Name
	}
	return audit.Clean(name)
}
