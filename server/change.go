package server

import (
	"context"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/kitebase/kitebase-mcp/server/resilience"
	"github.com/kitebase/kitebase-mcp/server/web"
)

// circuitChanged is told each change of a tool's circuit, while that is locked: it must not wait, and not ask the circuit.
func (s *Server) circuitChanged(tool string, now resilience.CircuitStatus) {
	s.config.Logger.Warn("circuit changed", "tool", tool, "state", string(now.State))
	s.audience.statusChanged()
	if s.config.HideOpenTools && now.State != resilience.Closed { // a closed one was half-open before, and is shown already
		s.audience.toolsChanged()
	}
	if now.State == resilience.Open {
		// A circuit finds out that its cooldown has passed when it is asked. Nobody calls a tool that is hidden, so that it
		// would stay so.
		s.later.run(time.Until(now.ProbeAt), func(context.Context) { s.circuits[tool].Status() })
	}
}

// hides reports whether a tool whose circuit stands so is left out of tools/list.
func (s *Server) hides(circuit resilience.CircuitStatus) bool {
	return s.config.HideOpenTools && circuit.State == resilience.Open
}

// shorten takes hidden tools out of a tools/list. They can still be called, and then say why they are refused: a filter of
// mcp-go's would answer such a call with a protocol error, which hosts show to the model as it is.
func (s *Server) shorten(_ context.Context, _ any, _ *mcp.ListToolsRequest, list *mcp.ListToolsResult) {
	shown := make([]mcp.Tool, 0, len(list.Tools))
	for _, tool := range list.Tools {
		if circuit := s.circuits[tool.Name]; circuit == nil || !s.hides(circuit.Status()) {
			shown = append(shown, tool)
		}
	}
	list.Tools = shown
}

// hooks returns by what mcp-go lets us see who is there and what is listed.
func (s *Server) hooks() *mcpserver.Hooks {
	hooks := new(mcpserver.Hooks)
	s.audience.hook(hooks)
	hooks.AddAfterSubscriptionsListen(web.Acknowledged)
	hooks.AddAfterListTools(web.Permitted)
	hooks.AddBeforeCallTool(web.Headers)
	if s.config.HideOpenTools {
		hooks.AddAfterListTools(s.shorten)
	}
	return hooks
}
