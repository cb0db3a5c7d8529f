package resilience

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/kitebase/kitebase-mcp/idempotency"
)

// run sends the claimed call and records how it ended, whatever happens.
func (d *deduper) run(ctx context.Context, record idempotency.Record, next send) landing {
	stands, release := d.Ledger.Hold(context.WithoutCancel(ctx), record)
	c := callFrom(ctx)
	c.key = record.Key
	before, ended := c.attempts, false
	defer func() {
		if !ended { // a panic passes through: the call may have been sent
			d.leaveUnconfirmed(ctx, attempted(release(), c.attempts-before), 0)
		}
	}()
	result, err := next(withFence(idempotency.WithKey(ctx, record.Key), stands))
	ended = true
	record = attempted(release(), c.attempts-before)

	if errors.Is(err, errOvertaken) {
		return landing{record: record, err: err}
	}
	if err == nil && result != nil && !result.IsError {
		return d.succeeded(ctx, record, result)
	}
	if err != nil && outcomeOf(err) == idempotency.NotDone {
		return d.undone(ctx, record, err)
	}
	look := d.settle(ctx, record)
	switch look.Outcome {
	case idempotency.Done:
		return d.found(ctx, record, look.Result)
	case idempotency.NotDone:
		return d.undone(ctx, record, settled{err, idempotency.NotDone})
	default:
		return landing{record: d.leaveUnconfirmed(ctx, record, look.Wait), result: result, err: err}
	}
}

// attempted books the attempts of the call, the last of which ended now.
func attempted(record idempotency.Record, attempts int) idempotency.Record {
	record.Attempts += attempts
	record.LastAt = time.Now()
	return record
}

func (d *deduper) succeeded(ctx context.Context, record idempotency.Record, result *mcp.CallToolResult) landing {
	if callFrom(ctx).attempts > 1 && d.Verify != nil {
		d.verify(ctx, record, result)
	}
	record, written := d.finish(ctx, record, result, byAnswer)
	if !written {
		annotate(result, mark{Note: unrecorded})
	}
	return landing{record: record, result: result}
}

// found records a call whose answer was lost, and which a look has shown to be made. What was made long before is a repeat
// under a key that our ledger no longer knows.
func (d *deduper) found(ctx context.Context, record idempotency.Record, result *mcp.CallToolResult) landing {
	if first := d.sentAt(record, result); first.Before(record.FirstAt.Add(-clockSkew)) {
		result = asEcho(result, first)
	} else {
		annotate(result, mark{Note: confirmed})
	}
	if callFrom(ctx).attempts > 1 && d.Verify != nil {
		d.verify(ctx, record, result)
	}
	record, _ = d.finish(ctx, record, result, byReading)
	return landing{record: record, result: result}
}

// verify notes on the result if the upstream ignored the key of a repeated call.
func (d *deduper) verify(ctx context.Context, record idempotency.Record, result *mcp.CallToolResult) {
	ctx, cancel := withDeadline(ctx)
	defer cancel()
	if note := d.Verify(ctx, record, result); note != "" {
		annotate(result, mark{Note: note})
	}
}

// The words for how it is known that a call was made.
const (
	byAnswer  = "answer"
	byReading = "read back"
)

// finish records success and reports whether that is written. The answer stands even if it is not: what was sent was sent.
func (d *deduper) finish(ctx context.Context, record idempotency.Record, result *mcp.CallToolResult, evidence string) (idempotency.Record, bool) {
	return d.conclude(ctx, record, result, idempotency.Finished, evidence)
}

func (d *deduper) conclude(ctx context.Context, record idempotency.Record, result *mcp.CallToolResult, state idempotency.State, evidence string) (idempotency.Record, bool) {
	ctx = context.WithoutCancel(ctx)
	stored, err := json.Marshal(result)
	unsettled := record.State == idempotency.Unconfirmed
	if err == nil {
		record.State, record.Result, record.Owner, record.Evidence = state, stored, "", evidence
		err = d.Ledger.Save(ctx, &record)
	}
	if errors.Is(err, idempotency.ErrMoved) { // who moved it has told it
		return d.concluded(ctx, record), true
	}
	if unsettled {
		d.settled(ctx, record, idempotency.Done)
	}
	d.log(ctx, err)
	return record, err == nil
}

// concluded returns a record that someone else has changed meanwhile. If it was settled in the same way and nobody was told then,
// somebody is now. If it was given up, because its owner was stopped for longer than its lease, what was seen counts for more.
func (d *deduper) concluded(ctx context.Context, record idempotency.Record) idempotency.Record {
	current, err := d.Ledger.Look(ctx, record.Fingerprint)
	switch {
	case err != nil:
		return record
	case current.State == "":
		current = record
		current.Version = 0
	case current.Generation != record.Generation:
		return record
	case current.Result == nil:
		version := current.Version
		current = record
		current.Version = version
	case current.State == idempotency.Settled && record.State == idempotency.Finished:
		current.State = idempotency.Finished
	default:
		return current
	}
	d.log(ctx, d.Ledger.Save(ctx, &current))
	return current
}

// undone forgets a claim that certainly came to nothing, and ends its call with err, unless somebody else has the claim now:
// then theirs is how it ended. If the ledger does not say whether somebody has, the call may have been made by them.
func (d *deduper) undone(ctx context.Context, record idempotency.Record, err error) landing {
	failed := d.Ledger.Forget(context.WithoutCancel(ctx), record)
	switch {
	case errors.Is(failed, idempotency.ErrMoved):
		err = errOvertaken
	case failed != nil:
		err = settled{err, idempotency.Unknown}
	}
	d.log(ctx, failed)
	return landing{record: record, err: err}
}

// leaveUnconfirmed records that the call may have been made, and has it settled once more when that can be decided.
func (d *deduper) leaveUnconfirmed(ctx context.Context, record idempotency.Record, wait time.Duration) idempotency.Record {
	record.State, record.Owner = idempotency.Unconfirmed, ""
	d.log(ctx, d.Ledger.Save(context.WithoutCancel(ctx), &record))
	d.settleLater(ctx, record, wait)
	return record
}

func (d *deduper) settle(ctx context.Context, record idempotency.Record) Settlement {
	if d.Settle == nil {
		return Settlement{}
	}
	ctx, cancel := withDeadline(ctx)
	defer cancel()
	look := d.Settle(ctx, record)
	if look.Outcome == idempotency.Done && look.Result == nil {
		return Settlement{Wait: look.Wait} // no evidence to show: not settled
	}
	return look
}

// SettleOpen looks once for every unconfirmed call in the ledger of config, and returns the records as they then stand. It
// only reads at the upstream.
func SettleOpen(ctx context.Context, config DedupeConfig) ([]idempotency.Record, error) {
	return newDeduper(config).settleOpen(ctx)
}

// settleOpen settles what is unconfirmed, except for what has a look of its own, at the horizon.
func (d *deduper) settleOpen(ctx context.Context) ([]idempotency.Record, error) {
	open, err := d.Ledger.Open(ctx, "")
	for i, record := range open {
		if ctx.Err() != nil {
			return open, ctx.Err()
		}
		switch {
		case record.Key == "" || d.looks.has(record.Fingerprint):
			continue
		case record.State == idempotency.Claimed: // its owner lives, or seems to for a while yet
			d.settleLater(ctx, record, 0)
			continue
		case record.State != idempotency.Unconfirmed:
			continue
		}
		look := d.settleNow(ctx, &open[i])
		if look.Outcome == idempotency.Unknown {
			d.settleLater(ctx, record, look.Wait)
		}
	}
	return open, err
}

// settleNow settles an unconfirmed record for which nobody waits.
func (d *deduper) settleNow(ctx context.Context, record *idempotency.Record) Settlement {
	look := d.settle(ctx, *record)
	switch look.Outcome {
	case idempotency.Done:
		*record, _ = d.conclude(ctx, *record, look.Result, idempotency.Settled, byReading)
	case idempotency.NotDone:
		d.abandon(ctx, record)
	}
	return look
}

// abandon records that the call was certainly not made and nobody waits for it.
func (d *deduper) abandon(ctx context.Context, record *idempotency.Record) {
	record.State, record.Evidence = idempotency.Abandoned, byReading
	err := d.Ledger.Save(context.WithoutCancel(ctx), record)
	d.log(ctx, err)
	if !errors.Is(err, idempotency.ErrMoved) {
		d.settled(ctx, *record, idempotency.NotDone)
	}
}

// settled tells what has become of a call that was left unknown, and so was answered as such.
func (d *deduper) settled(ctx context.Context, record idempotency.Record, outcome idempotency.Outcome) {
	if d.Settled != nil {
		d.Settled(ctx, record, outcome)
	}
}

func (d *deduper) log(ctx context.Context, err error) {
	if err != nil && !errors.Is(err, idempotency.ErrMoved) {
		notWritten(ctx, err)
	}
}
