package resilience

import (
	"cmp"
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

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
	b := &bulkhead{places: make(chan struct{}, config.Calls), most: int64(config.Queue)}
	return func(next mcpserver.ToolHandlerFunc) mcpserver.ToolHandlerFunc {
		return func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if err := b.enter(ctx); err != nil {
				return nil, err
			}
			defer func() { <-b.places }()
			return next(ctx, request)
		}
	}
}

type bulkhead struct {
	places  chan struct{}
	most    int64
	waiting atomic.Int64
}

func (b *bulkhead) enter(ctx context.Context) error {
	select {
	case b.places <- struct{}{}:
		return nil
	default:
	}
	defer b.waiting.Add(-1)
	if b.waiting.Add(1) > b.most {
		return b.full()
	}
	c, began := callFrom(ctx), time.Now()
	defer func() { c.queued += time.Since(began) }()
	var late <-chan time.Time
	if left, limited := c.remaining(); limited {
		timer := time.NewTimer(left)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case b.places <- struct{}{}:
		if c.abandoned() { // both at once
			<-b.places
			return left(c)
		}
		return nil
	case <-late:
		return b.full()
	case <-c.caller.Done():
		return left(c)
	}
}

func left(c *call) error {
	return &Failure{What: Canceled, Effect: idempotency.NotDone, NotRun: true, Cause: context.Cause(c.caller)}
}

func (b *bulkhead) full() error {
	says := "1 call of this tool is under way and it can take no more"
	if n := cap(b.places); n > 1 {
		says = fmt.Sprintf("%d calls of this tool are under way and it can take no more", n)
	}
	return &Failure{What: Busy, Says: says, Effect: idempotency.NotDone, NotRun: true}
}
