package server

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/kitebase/kitebase-mcp/server/access"
	"github.com/kitebase/kitebase-mcp/server/resilience"
	"github.com/kitebase/kitebase-mcp/tools"
)

// instead says which tool can take the place of another for a while.
var instead = map[string]string{"get_ticket": "search_tickets", "search_tickets": "get_ticket"}

// newCircuits returns a circuit for each tool. Those of writes are probed by reading the ticket: the first reply after an
// outage must not be the test whether it is over.
func (s *Server) newCircuits() map[string]*resilience.Circuit {
	circuits := make(map[string]*resilience.Circuit)
	for _, tool := range tools.Table(s.client) {
		config := resilience.BreakerConfig{
			Threshold: s.config.BreakerThreshold, Cooldown: s.config.BreakerCooldown,
			Instead: func() string {
				other := instead[tool.Name]
				if circuit := circuits[other]; circuit == nil || circuit.Status().State != resilience.Closed {
					return ""
				}
				return other
			},
			Changed: func(status resilience.CircuitStatus) {
				s.circuitChanged(tool.Name, status)
			},
		}
		switch tool.Effect {
		case tools.Sets:
			config.Probe = s.readTicket(assignTicket)
		case tools.Sends:
			config.Probe = s.readTicket(replyTicket)
		}
		circuits[tool.Name] = resilience.NewCircuit(config)
	}
	return circuits
}

// readTicket returns a probe that reads the ticket of a call.
func (s *Server) readTicket(ticketOf func(mcp.CallToolRequest) string) func(context.Context, mcp.CallToolRequest) error {
	return func(ctx context.Context, request mcp.CallToolRequest) error {
		ticket := ticketOf(request)
		if ticket == "" {
			return nil // the tool refuses it by itself
		}
		ctx, cancel := context.WithTimeout(ctx, s.config.patience())
		defer cancel()
		_, err := s.client.GetTicket(ctx, ticket)
		return err
	}
}

// callerOf tells callers apart: by what they are let in with, and by their MCP session, whose id a client may choose.
func callerOf(ctx context.Context, _ mcp.CallToolRequest) string {
	caller, _ := access.From(ctx)
	name := caller.Key()
	if session := mcpserver.ClientSessionFromContext(ctx); session != nil {
		name += " " + session.SessionID()
	}
	return name
}
