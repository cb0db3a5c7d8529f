package simulation_test

import (
	"context"
	"sync"
	"time"

	"github.com/kitebase/kitebase-mcp/idempotency"
)

// ledger is the store that all processes share. What was put into it outlives them.
type ledger struct {
	idempotency.Memory
	world *world

	mu   sync.Mutex
	died map[string]time.Time // by owner; the zero time while it lives
}

func newLedger(w *world) *ledger { return &ledger{world: w, died: make(map[string]time.Time)} }

// span is a stretch of time.
type span struct{ from, to time.Time }

// storeFault is how a handle goes wrong, until then or for so many operations.
type storeFault struct {
	mode  string
	until time.Time
	left  int
	delay time.Duration
}

func (l *ledger) open(owner string, point func(string)) *handle {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.died[owner] = time.Time{}
	return &handle{ledger: l, owner: owner, point: point, dead: make(chan struct{})}
}

// begin waits as long as the store takes and reports how the operation fails, if it does: before or after its effect.
func (h *handle) begin(ctx context.Context) (failsAfter bool, err error) {
	began := time.Now()
	mode, wait := h.strike()
	if wait > 0 {
		select {
		case <-time.After(wait):
		case <-h.dead:
		case <-ctx.Done():
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if wait > 0 {
		h.slow = append(h.slow, span{began, time.Now()})
	}
	switch {
	case h.over:
		return false, errDied
	case ctx.Err() != nil:
		return false, ctx.Err()
	case mode == storeBefore || mode == storeDown:
		h.failed = append(h.failed, time.Now())
		return false, errStore
	case mode == storeAfter:
		h.failed = append(h.failed, time.Now())
		return true, nil
	}
	return false, nil
}

// strike returns what happens to the next operation.
func (h *handle) strike() (mode string, wait time.Duration) {
	wait = h.ledger.world.latency()
	h.mu.Lock()
	defer h.mu.Unlock()
	f := h.fault
	if f == nil || time.Now().After(f.until) {
		return "", wait
	}
	if f.mode != storeDown && f.mode != storeSlow {
		if f.left == 0 {
			return "", wait
		}
		f.left--
	}
	if f.mode == storeSlow {
		wait += f.delay
	}
	return f.mode, wait
}

func (h *handle) setFault(f *storeFault) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.fault = f
}

// failedWithin reports whether an operation failed then.
func (h *handle) failedWithin(from, to time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, at := range h.failed {
		if !at.Before(from) && !at.After(to) {
			return true
		}
	}
	return false
}

// waited returns how long operations took that were under way within that time.
func (h *handle) waited(from, to time.Time) (sum time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.slow {
		if s.to.After(from) && s.from.Before(to) {
			sum += s.to.Sub(s.from)
		}
	}
	return sum
}
