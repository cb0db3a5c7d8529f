package resilience

import (
	"context"
	"encoding/json"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/kitebase/kitebase-mcp/idempotency"
)

// reworded holds the claimed call back if an earlier one of its group is not known to have ended: the two may be the same
// thing in other words. The earlier one is settled first, by looking, never by sending it again.
//
//	it went through     told, once; the next call like this one is made
//	it did not          abandoned; this one is made
//	nobody knows        this one is not made now
//
// It returns nil if the call may be made.
func (d *deduper) reworded(ctx context.Context, record idempotency.Record) *landing {
	if record.Group == "" {
		return nil
	}
	open, err := d.Ledger.Open(ctx, record.Group)
	if err != nil {
		ended := d.undone(ctx, record, unusable(err))
		return &ended
	}
	var wait time.Duration
	unknown := false
	var delivered *idempotency.Record
	for _, earlier := range open {
		if earlier.Fingerprint == record.Fingerprint || earlier.Tool != record.Tool || time.Since(earlier.LastAt) > d.Window {
			continue
		}
		earlier, look := d.settleEarlier(ctx, earlier)
		switch {
		case earlier.State == idempotency.Finished && delivered == nil:
			delivered = &earlier
		case earlier.State == idempotency.Unconfirmed:
			unknown, wait = true, max(wait, look.Wait)
			d.settleLater(ctx, earlier, look.Wait) // who left it so may be dead
		}
	}
	switch {
	case unknown:
		ended := d.undone(ctx, record, &Failure{
			What: Held, Says: heldBack(d.Noun, record.Group, d.Check, wait), Wait: wait, Effect: idempotency.NotDone, NotRun: true,
		})
		return &ended
	case delivered != nil:
		record.State = idempotency.Held
		d.log(ctx, d.Ledger.Save(context.WithoutCancel(ctx), &record))
		return &landing{err: &Failure{
			What: Held, Says: delivers(d.Noun, record.Group, d.name(*delivered)), Effect: idempotency.NotDone, NotRun: true,
		}}
	default:
		return nil
	}
}

// settleEarlier settles an open record of the same group and returns it as it then stands. What was delivered is Finished
// from now on, since its caller is being told.
func (d *deduper) settleEarlier(ctx context.Context, earlier idempotency.Record) (idempotency.Record, Settlement) {
	switch earlier.State {
	case idempotency.Settled:
		earlier.State = idempotency.Finished
		d.log(ctx, d.Ledger.Save(context.WithoutCancel(ctx), &earlier))
		return earlier, Settlement{}
	case idempotency.Unconfirmed:
		look := d.settle(ctx, earlier)
		switch look.Outcome {
		case idempotency.Done:
			earlier, _ = d.finish(ctx, earlier, look.Result, byReading)
		case idempotency.NotDone:
			d.abandon(ctx, &earlier)
		}
		return earlier, look
	default:
		return earlier, Settlement{}
	}
}

// name names a finished call, or returns "".
func (d *deduper) name(record idempotency.Record) string {
	var result mcp.CallToolResult
	if d.Name == nil || json.Unmarshal(record.Result, &result) != nil {
		return ""
	}
	return d.Name(&result)
}
