package resilience

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
)

// progress tells a caller who sent a progressToken about each wait. The zero value tells nobody.
type progress struct {
	token any
	told  int
}

func progressFor(request mcp.CallToolRequest) progress {
	if request.Params.Meta == nil {
		return progress{}
	}
	return progress{token: request.Params.Meta.ProgressToken}
}

// tell sends one notification; the numbers rise strictly, as the protocol demands. Progress is a courtesy: a client that
// cannot be told is no failure of the call.
func (p *progress) tell(ctx context.Context, message string) {
	server := mcpserver.ServerFromContext(ctx)
	if p.token == nil || server == nil {
		return
	}
	p.told++
	_ = server.SendNotificationToClient(ctx, "notifications/progress", map[string]any{
		"progressToken": p.token, "progress": p.told, "message": message,
	})
}
