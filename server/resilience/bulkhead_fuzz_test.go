package resilience_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server/resilience"
)

// hall is a bulkhead with two places and a queue of two, and the calls in it.
type hall struct {
	call    caller
	under   atomic.Int64 // way
	done    chan struct{}
	answers chan *mcp.CallToolResult
	waiting []context.CancelFunc // in order
}

func newHall(t *testing.T) *hall {
	h := &hall{done: make(chan struct{}), answers: make(chan *mcp.CallToolResult, 200)}
	work := does(func(ctx context.Context) (*mcp.CallToolResult, error) {
		h.under.Add(1)
		defer h.under.Add(-1)
		<-h.done
		return succeeds(ctx)
	})
	h.call = guard(t, sends(work.handle), resilience.Policy{Bulkhead: &resilience.BulkheadConfig{Calls: 2, Queue: 2}})
	return h
}

func (h *hall) come(t *testing.T) {
	before := h.under.Load()
	ctx, cancel := context.WithCancel(t.Context())
	go func() { h.answers <- h.call(ctx) }()
	synctest.Wait()
	switch {
	case before < 2:
		require.Equal(t, before+1, h.under.Load())
		cancel() // a write that has begun is finished
	case len(h.waiting) < 2:
		h.waiting = append(h.waiting, cancel)
	default:
		require.Equal(t, resilience.Busy, info(t, <-h.answers).Kind)
		cancel()
	}
}

// end lets one call come to its end; the first that waits has its place.
func (h *hall) end(t *testing.T) {
	before := h.under.Load()
	if before == 0 {
		return
	}
	h.done <- struct{}{}
	synctest.Wait()
	require.False(t, (<-h.answers).IsError)
	next := min(len(h.waiting), 1)
	require.Equal(t, before-1+int64(next), h.under.Load())
	h.waiting = h.waiting[next:]
}

// leave has the last one that waits leave.
func (h *hall) leave(t *testing.T) {
	last := len(h.waiting) - 1
	if last < 0 {
		return
	}
	h.waiting[last]()
	synctest.Wait()
	require.Equal(t, resilience.Canceled, info(t, <-h.answers).Kind)
	h.waiting = h.waiting[:last]
}

// FuzzBulkhead states: in whatever order calls come, end and leave, at most two run and two wait, whoever finds neither is told
// so, and at the end all places are free.
func FuzzBulkhead(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 0, 1, 1, 2, 0, 1})
	f.Add([]byte{0, 0, 0, 2, 2, 0, 0, 1, 2, 3, 1, 0})
	f.Fuzz(func(t *testing.T, program []byte) {
		synctest.Test(t, func(t *testing.T) {
			h := newHall(t)
			steps := []func(*testing.T){h.come, h.end, h.leave, h.come}
			for _, op := range program[:min(len(program), 100)] {
				steps[op%4](t)
				require.LessOrEqual(t, h.under.Load(), int64(2))
			}
			close(h.done)
			synctest.Wait()
			require.Zero(t, h.under.Load())
			for answers := crowd(t.Context(), 4, h.call); len(answers) > 0; {
				require.False(t, (<-answers).IsError, "all places are free")
			}
			for _, cancel := range h.waiting {
				cancel()
			}
		})
	})
}
