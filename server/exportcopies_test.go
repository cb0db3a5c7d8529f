package server

import (
	"time"

	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/kitebase/kitebase-mcp/server/resilience"
)

// KeptTickets is how many copies of tickets there are at the most.
const KeptTickets = keptTickets

// Copies returns the fallback of tickets, and what tells it of an assignment.
func Copies(maxAge time.Duration) (*resilience.FallbackConfig, func(mcpserver.ToolHandlerFunc) mcpserver.ToolHandlerFunc) {
	c := newCopies(maxAge, 0)
	return c.ofTickets(), func(next mcpserver.ToolHandlerFunc) mcpserver.ToolHandlerFunc { return c.writing(assignTicket, next) }
}
