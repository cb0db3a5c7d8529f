package server

import (
	"context"
	"errors"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/server/resilience"
	"github.com/kitebase/kitebase-mcp/tools"
)

// keptTickets is how many tickets are remembered for the time when Kitebase does not answer.
const keptTickets = 200

// copies are good answers of before, for the time when Kitebase does not answer. A ticket that was written to, or may have
// been, has no copy: it would show what is no longer so. It is safe for concurrent use.
type copies struct {
	*articles

	maxAge  time.Duration
	settles time.Duration // how long Kitebase may still be working on a write that got no answer

	mu      sync.Mutex
	tickets *lru.Cache[string, resilience.Copy]
	written *lru.Cache[string, time.Time] // until when a ticket was being written to
	dropped time.Time                     // the latest of those that written has no room for
	shown   *lru.Cache[sight, time.Time]  // of when the copy is that a caller last saw
}

// sight is a ticket as one caller knows it.
type sight struct{ caller, ticket string }

func newCopies(maxAge, settles time.Duration) *copies {
	c := &copies{
		articles: newArticles(maxAge), maxAge: maxAge, settles: settles,
		tickets: newLRU[string, resilience.Copy](keptTickets, nil),
		shown:   newLRU[sight, time.Time](keptTickets, nil),
	}
	c.written = newLRU(keptTickets, func(_ string, until time.Time) {
		if until.After(c.dropped) {
			c.dropped = until
		}
	})
	return c
}

func newLRU[K comparable, V any](size int, evicted func(K, V)) *lru.Cache[K, V] {
	cache, err := lru.NewWithEvict(size, evicted)
	if err != nil {
		panic(err) // only for a size below 1
	}
	return cache
}

// ofTickets is the fallback of get_ticket.
func (c *copies) ofTickets() *resilience.FallbackConfig {
	return &resilience.FallbackConfig{
		Keep: func(ctx context.Context, request mcp.CallToolRequest, good resilience.Answer) {
			id, err := tools.TicketID(request)
			if err != nil {
				return
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			if c.shown.Len() > 0 {
				c.shown.Remove(sight{callerOf(ctx, request), id})
			}
			if good.Began.After(c.writtenUntil(id)) {
				c.tickets.Add(id, resilience.Copy{Result: good.Result, AsOf: time.Now(), ServedBy: "copy"})
			}
		},
		Find: func(ctx context.Context, request mcp.CallToolRequest) (resilience.Copy, bool) {
			id, err := tools.TicketID(request)
			if err != nil {
				return resilience.Copy{}, false
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			found, ok := c.tickets.Get(id)
			if !ok || time.Since(found.AsOf) > c.maxAge {
				return resilience.Copy{}, false
			}
			c.shown.Add(sight{callerOf(ctx, request), id}, found.AsOf)
			return found, true
		},
	}
}

// writtenUntil returns until when the ticket was, or may have been, written to. The caller holds the lock.
func (c *copies) writtenUntil(id string) time.Time {
	if until, ok := c.written.Get(id); ok {
		return until
	}
	return c.dropped
}

// writing wraps the handler of a tool that changes a ticket: from its start on there is no copy of the ticket, and none is
// kept that was read before its end. While nobody knows whether Kitebase is still working on it, that is not its end.
func (c *copies) writing(ticketOf func(mcp.CallToolRequest) string, next mcpserver.ToolHandlerFunc) mcpserver.ToolHandlerFunc {
	forget := func(id string, until time.Time) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if until.After(c.writtenUntil(id)) {
			c.written.Add(id, until)
		}
		c.tickets.Remove(id)
	}
	return func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		id, ended := ticketOf(request), c.settles
		forget(id, time.Now())
		defer func() { forget(id, time.Now().Add(ended)) }()
		result, err := next(ctx, request)
		if err == nil || certain(err) {
			ended = 0
		}
		return result, err
	}
}

// certain reports whether it is known what a failed write did.
func certain(err error) bool {
	var told interface{ Outcome() idempotency.Outcome }
	return errors.As(err, &told) && told.Outcome() != idempotency.Unknown
}

// reminding wraps the guarded reply tool: a reply to a ticket that its caller last saw as a copy says so.
func (c *copies) reminding(next mcpserver.ToolHandlerFunc) mcpserver.ToolHandlerFunc {
	return func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		c.mu.Lock()
		asOf, stale := c.shown.Get(sight{callerOf(ctx, request), replyTicket(request)})
		c.mu.Unlock()
		result, err := next(ctx, request)
		if err == nil && stale && !result.IsError {
			resilience.Annotate(result, "This reply was written from a copy of the ticket from "+asOf.UTC().Format("15:04")+
				" UTC: read the ticket again when Kitebase answers.")
		}
		return result, err
	}
}
