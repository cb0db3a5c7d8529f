package resilience

import (
	"cmp"
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
	"golang.org/x/sync/semaphore"

	"github.com/kitebase/kitebase-mcp/idempotency"
)

// BulkheadConfig says how many calls of a tool may be under way. The zero value works.
type BulkheadConfig struct {
	// Calls is the most calls under way at once. Default 64; -1 means no limit.
	Calls int
	// Queue is the most calls that wait for a place. Default 64; -1 means none.
	Queue int
}

func (c BulkheadConfig) withDefaults() BulkheadConfig {
	c.Calls, c.Queue = cmp.Or(c.Calls, 64), max(0, cmp.Or(c.Queue, 64))
	return c
}

func (c BulkheadConfig) validate() error {
	if c.Calls < -1 || c.Queue < -1 {
		return fmt.Errorf("Calls is %d and Queue %d; give 1 or more, or -1 for no limit and no queue", c.Calls, c.Queue)
	}
	return nil
}

// Bulkhead returns the layer that keeps a slow tool from using up what the others need. A call that finds no place waits in
// a short queue, within its deadline, and begins nothing if its caller leaves meanwhile; beyond that it is told at once that
// the tool is busy. Being full says nothing about the upstream.
func Bulkhead(config BulkheadConfig) mcpserver.ToolHandlerMiddleware {
	config = config.withDefaults()
	if config.Calls < 0 {
		return func(next mcpserver.ToolHandlerFunc) mcpserver.ToolHandlerFunc { return next }
	}
	b := &bulkhead{places: semaphore.NewWeighted(int64(config.Calls)), calls: config.Calls, queue: int64(config.Queue)}
	return func(next mcpserver.ToolHandlerFunc) mcpserver.ToolHandlerFunc {
		return func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if err := b.enter(ctx); err != nil {
				return nil, err
			}
			defer b.places.Release(1)
			return next(ctx, request)
		}
	}
}

type bulkhead struct {
	places  *semaphore.Weighted
	calls   int
	queue   int64
	waiting atomic.Int64
}

func (b *bulkhead) enter(ctx context.Context) error {
	if b.places.TryAcquire(1) {
		return nil
	}
	defer b.waiting.Add(-1)
	if b.waiting.Add(1) > b.queue {
		return b.full()
	}
	c, began := callFrom(ctx), time.Now()
	defer func() { c.queued += time.Since(began) }()
	patience := c.caller
	if !c.deadline.IsZero() {
		until, cancel := context.WithDeadline(c.caller, c.deadline)
		defer cancel()
		patience = until
	}
	err := b.places.Acquire(patience, 1)
	switch {
	case err == nil && !c.abandoned():
		return nil
	case err == nil: // both at once
		b.places.Release(1)
		return left(c)
	case c.abandoned():
		return left(c)
	default:
		return b.full()
	}
}

func left(c *call) error {
	return &Failure{What: Canceled, Effect: idempotency.NotDone, NotRun: true, Cause: context.Cause(c.caller)}
}

func (b *bulkhead) full() error {
	says := "1 call of this tool is under way and it can take no more"
	if b.calls > 1 {
		says = fmt.Sprintf("%d calls of this tool are under way and it can take no more", b.calls)
	}
	return &Failure{What: Busy, Says: says, Effect: idempotency.NotDone, NotRun: true}
}
