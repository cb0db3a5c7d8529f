package resilience

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
)

// Copy is a good answer of before.
type Copy struct {
	// Result is the answer as the handler gave it.
	Result *mcp.CallToolResult
	// AsOf is when it was given.
	AsOf time.Time
	// ServedBy says what it is, such as "copy".
	ServedBy string
}

// FallbackConfig says where degraded answers come from.
type FallbackConfig struct {
	// Keep is given each good answer of the upstream. It must not change the result. Required.
	Keep func(ctx context.Context, request mcp.CallToolRequest, good Answer)
	// Find returns a degraded answer for a request that failed. Required.
	Find func(context.Context, mcp.CallToolRequest) (Copy, bool)
}

// Answer is a good answer of the upstream.
type Answer struct {
	Result *mcp.CallToolResult
	// Began is when the call began: what was changed since then, the answer may not show.
	Began time.Time
}

func (c *FallbackConfig) validate() error {
	if c.Keep == nil || c.Find == nil {
		return errors.New("Keep or Find is missing; give both")
	}
	return nil
}

// Fallback returns the layer that answers a failed read from what was answered before, and says so in the first words. It is
// no cache: the upstream is always asked first, unless its circuit is open. Only failures to answer are bridged, never an
// answer such as "not found".
func Fallback(config FallbackConfig) mcpserver.ToolHandlerMiddleware {
	return func(next mcpserver.ToolHandlerFunc) mcpserver.ToolHandlerFunc {
		return func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			began := callFrom(ctx).began
			result, err := next(ctx, request)
			if err == nil && result != nil && !result.IsError {
				config.Keep(ctx, request, Answer{Result: result, Began: began})
			}
			if err == nil || !bridged(err) {
				return result, err
			}
			found, ok := config.Find(ctx, request)
			if !ok {
				return nil, err
			}
			c := callFrom(ctx)
			c.log.LogAttrs(ctx, slog.LevelWarn, "answered from a copy", slog.String("tool", request.Params.Name),
				slog.Time("as_of", found.AsOf), slog.String("kind", string(kindOf(err))))
			return degraded(c.words.copyFrom(kindOf(err), found.AsOf), found), nil
		}
	}
}

// bridged reports whether err is a failure to answer.
func bridged(err error) bool {
	switch kindOf(err) {
	case Unavailable, TimedOut, BadAnswer, CircuitOpen, RateLimited, Busy:
		return true
	default:
		return false
	}
}

func degraded(note string, found Copy) *mcp.CallToolResult {
	copied := *found.Result
	asOf := found.AsOf.UTC().Truncate(time.Second)
	annotate(&copied, mark{Note: note, ServedBy: found.ServedBy, AsOf: &asOf})
	return withMeta(withMeta(&copied, MetaServedBy, found.ServedBy), MetaAsOf, asOf.Format(time.RFC3339))
}
