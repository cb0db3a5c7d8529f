package simulation_test

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/kitebase/kitebase-mcp/idempotency"
)

var (
	errDied  = errors.New("the process of this store handle has died")
	errStore = errors.New("the store is out of order")
)

// handle is the ledger as one process has it open: it dies with the process, goes wrong by itself, and sees the times in
// the records by the clock of its process.
//
// There is only one clock in a bubble. So the clock of a process that is off by some time is its handle adding that time
// to what it writes and taking it away from what it reads: nothing else of one process is ever held against the clock of
// another.
type handle struct {
	ledger *ledger
	owner  string
	point  func(string) // tells the process where it is; it may die there

	dead chan struct{}

	mu     sync.Mutex
	over   bool
	off    time.Duration
	fault  *storeFault
	failed []time.Time // when an operation failed
	slow   []span      // what it made callers wait
}

// Put is part of [idempotency.Store].
func (h *handle) Put(ctx context.Context, next idempotency.Record, expected int64) (idempotency.Record, bool, error) {
	before, after := pointRecordBefore, pointRecordAfter
	if next.State == idempotency.Claimed && next.FirstAt.Equal(next.LastAt) {
		before, after = pointClaimBefore, pointClaimAfter
	}
	h.point(before)
	failsAfter, err := h.begin(ctx)
	if err != nil {
		return idempotency.Record{}, false, err
	}
	stored, written, _ := h.ledger.Memory.Put(ctx, h.inward(next), expected)
	h.point(after)
	switch {
	case h.isDead():
		return idempotency.Record{}, false, errDied
	case failsAfter:
		return idempotency.Record{}, false, errStore
	}
	return h.outward(stored), written, nil
}

// Delete is part of [idempotency.Store].
func (h *handle) Delete(ctx context.Context, record idempotency.Record) (bool, error) {
	h.point(pointRecordBefore)
	failsAfter, err := h.begin(ctx)
	if err != nil {
		return false, err
	}
	removed, _ := h.ledger.Memory.Delete(ctx, record)
	h.point(pointRecordAfter)
	switch {
	case h.isDead():
		return false, errDied
	case failsAfter:
		return false, errStore
	}
	return removed, nil
}

// Find is part of [idempotency.Store].
func (h *handle) Find(ctx context.Context, query idempotency.Query) ([]idempotency.Record, error) {
	failsAfter, err := h.begin(ctx)
	if err == nil && failsAfter {
		err = errStore
	}
	if err != nil {
		return nil, err
	}
	query.Since, query.Before = h.shift(query.Since, 1), h.shift(query.Before, 1)
	found, _ := h.ledger.Memory.Find(ctx, query)
	for i := range found {
		found[i] = h.outward(found[i])
	}
	return found, nil
}

// Purge is part of [idempotency.Store].
func (h *handle) Purge(ctx context.Context, before time.Time) (int, error) {
	if _, err := h.begin(ctx); err != nil {
		return 0, err
	}
	return h.ledger.Memory.Purge(ctx, h.shift(before, 1))
}

// Owner is part of [idempotency.Store].
func (h *handle) Owner() string { return h.owner }

// Alive is part of [idempotency.Store]. A dead owner may seem to live for a while, as where the system frees its lock late.
func (h *handle) Alive(ctx context.Context, owner string) (bool, error) {
	if _, err := h.begin(ctx); err != nil {
		return false, err
	}
	h.ledger.mu.Lock()
	defer h.ledger.mu.Unlock()
	died, known := h.ledger.died[owner]
	return known && (died.IsZero() || time.Since(died) < h.ledger.world.schedule.Setup.AliveLag), nil
}

// Close is part of [idempotency.Store].
func (h *handle) Close() error {
	h.die()
	return nil
}

// die makes everything fail from now on, and ends the owner.
func (h *handle) die() {
	h.mu.Lock()
	first := !h.over
	h.over = true
	h.mu.Unlock()
	if !first {
		return
	}
	close(h.dead)
	h.ledger.mu.Lock()
	defer h.ledger.mu.Unlock()
	h.ledger.died[h.owner] = time.Now()
}

func (h *handle) isDead() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.over
}

func (h *handle) setClock(off time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.off = off
}

// shift moves a time by the clock of the process: 1 as it is written, -1 as it is read.
func (h *handle) shift(at time.Time, sign time.Duration) time.Time {
	if at.IsZero() {
		return at
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return at.Round(0).Add(sign * h.off)
}

func (h *handle) inward(r idempotency.Record) idempotency.Record { return h.shifted(r, 1) }

func (h *handle) outward(r idempotency.Record) idempotency.Record { return h.shifted(r, -1) }

func (h *handle) shifted(r idempotency.Record, sign time.Duration) idempotency.Record {
	r.Lease, r.FirstAt, r.LastAt = h.shift(r.Lease, sign), h.shift(r.FirstAt, sign), h.shift(r.LastAt, sign)
	return r
}
