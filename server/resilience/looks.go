package resilience

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/kitebase/kitebase-mcp/idempotency"
)

// The pauses between looks in the background at what stays unknown grow from the first to the second.
const (
	lookAgain  = 30 * time.Second
	lookSeldom = 5 * time.Minute
)

// looks knows which calls are looked for in the background, so that each is by one only. The zero value is ready; it is safe
// for concurrent use.
type looks struct {
	mu     sync.Mutex
	newest map[string]int // by fingerprint
	count  int
}

// begin makes a new look the one that counts.
func (l *looks) begin(name string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.newest == nil {
		l.newest = make(map[string]int)
	}
	l.count++
	l.newest[name] = l.count
	return l.count
}

// has reports whether a call is looked for.
func (l *looks) has(name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, begun := l.newest[name]
	return begun
}

// counts reports whether no newer look has begun since.
func (l *looks) counts(name string, look int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.newest[name] == look
}

// end forgets a look, unless a newer one has begun.
func (l *looks) end(name string, look int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.newest[name] == look {
		delete(l.newest, name)
	}
}

// settleLater looks in the background when the horizon has passed, and again until it is known what became of the call: the
// upstream may be away for longer than the horizon. It only reads: nothing is sent after the caller was answered. What it does
// belongs to the call of ctx.
func (d *deduper) settleLater(ctx context.Context, record idempotency.Record, wait time.Duration) {
	if d.Later == nil || d.Settle == nil {
		return
	}
	d.lookLater(ctx, record, d.looks.begin(record.Fingerprint), cmp.Or(wait, lookAgain), lookAgain)
}

func (d *deduper) lookLater(call context.Context, record idempotency.Record, look int, wait, pause time.Duration) {
	d.Later(wait, func(work context.Context) {
		ctx := after(call, work)
		if !d.looks.counts(record.Fingerprint, look) {
			return
		}
		open, wait := d.lookOnce(ctx, record)
		if !open || ctx.Err() != nil {
			d.looks.end(record.Fingerprint, look)
			return
		}
		d.lookLater(call, record, look, max(wait, pause), min(2*pause, lookSeldom))
	})
}

// lookOnce settles the call of record if it is still unconfirmed, and reports whether it stays open and how long until
// another look can decide. One that is still claimed is open: how it ended could not be written.
func (d *deduper) lookOnce(ctx context.Context, record idempotency.Record) (open bool, wait time.Duration) {
	current, err := d.Ledger.Look(ctx, record.Fingerprint)
	switch {
	case err != nil:
		return true, 0
	case current.Generation != record.Generation:
		return false, 0
	case current.State != idempotency.Unconfirmed:
		return current.State == idempotency.Claimed, 0
	}
	seen := d.settleNow(ctx, &current)
	return seen.Outcome == idempotency.Unknown, seen.Wait
}

// settleOld settles what an earlier process left behind, and tries again while the ledger cannot be asked.
func (d *deduper) settleOld(wait time.Duration) {
	d.Later(wait, func(ctx context.Context) {
		if _, err := d.settleOpen(ctx); err != nil && ctx.Err() == nil {
			d.log(ctx, err)
			d.settleOld(lookAgain)
		}
	})
}
