package resilience

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/kitebase/kitebase-mcp/idempotency"
)

// Settlement is what a look at the upstream has shown about an unconfirmed call.
type Settlement struct {
	// Outcome is Done only if the effect was seen, NotDone only if it certainly neither happened nor can happen any more.
	Outcome idempotency.Outcome
	// Result is the result of the call as the handler would have returned it, if Outcome is Done.
	Result *mcp.CallToolResult
	// Wait is how long until another look can decide, 0 if that is not known.
	Wait time.Duration
}

// DedupeConfig says how [Dedupe] recognises a repeat.
type DedupeConfig struct {
	// Ledger keeps the records. Required.
	Ledger *idempotency.Ledger
	// Identify says which call a request is; tool and call id need not be filled in. Its error is the answer to the call.
	// Required.
	Identify func(mcp.CallToolRequest) (idempotency.Identity, error)
	// Settle looks at the upstream to find out whether an unconfirmed call had its effect. It must only read. Default nil:
	// what is unconfirmed stays so.
	Settle func(context.Context, idempotency.Record) Settlement
	// Renewed reports whether something has happened since the record that makes the same call a new one. Default nil:
	// nothing does.
	Renewed func(context.Context, idempotency.Record) bool
	// Verify looks at the upstream after a success that took more than one attempt, and returns what the caller must know
	// if the effect happened more than once, else "". Default nil: keys are trusted.
	Verify func(context.Context, idempotency.Record, *mcp.CallToolResult) string
	// Later runs f after d, to settle in the background what stayed unconfirmed. Default nil: it is settled when the next
	// call of its group asks.
	Later func(d time.Duration, f func(context.Context))
	// Settled is told, once, what has become of a call that had been left unknown: Done or NotDone, by whatever found it out.
	// CallID of its context is the call that was left, if this process made it and settles it in the background, or the call
	// that settles it. It must return at once. Default nil.
	Settled func(context.Context, idempotency.Record, idempotency.Outcome)
	// Warning returns what callers must know about the ledger, such as that it is not durable; "" for nothing. Default nil.
	Warning func() string
	// Window is how long the same call is a repeat. Default 24h.
	Window time.Duration
	// Noun is what one call is called in texts, such as "reply". Default "call".
	Noun string
	// Check names the tool by which a model can look for itself, such as "get_ticket". Default "": none.
	Check string
	// SentAt returns when the effect happened, by its result; the zero time if that does not say. Default nil: the time of
	// the claim is told instead.
	SentAt func(*mcp.CallToolResult) time.Time
	// Name names a finished call in texts by its result, such as "rpl_001". Default nil: it has no name.
	Name func(*mcp.CallToolResult) string
}

func (c DedupeConfig) validate() error {
	switch {
	case c.Ledger == nil:
		return errors.New("Ledger is missing; give one, for example on an idempotency.Memory")
	case c.Identify == nil:
		return errors.New("Identify is missing; give the function that says which call a request is")
	case c.Window < 0:
		return fmt.Errorf("Window is %s; give a positive time", c.Window)
	}
	return nil
}

// Dedupe returns the layer that lets a call have its effect once. It gives the handler the key of the call in the
// context ([idempotency.KeyFrom]) and remembers how the call ended:
//
//	done       a repeat gets the first result, marked as such; the handler is not run
//	not done   forgotten; a repeat runs
//	unknown    settled by looking at the upstream; while that does not help, a repeat is not run and told so, and neither
//	           is another call of the same group, which may be the same thing in other words
//
// The same call made while the first one runs waits for it and shares its ending; it can leave without failing the others.
//
// What an earlier process left unconfirmed is looked at soon after the layer was made, if config has a Later.
func Dedupe(config DedupeConfig) mcpserver.ToolHandlerMiddleware {
	d := newDeduper(config)
	if d.Later != nil && d.Settle != nil {
		d.settleOld(soon)
	}
	return d.layer
}

type deduper struct {
	DedupeConfig
	flights flights
	looks   looks
	// repeats has one place, for who counts a repeat in this process. It is a channel rather than a mutex because the place
	// is held while the store works, and synctest lets time pass for those who wait for a channel only.
	repeats chan struct{}
}

func newDeduper(config DedupeConfig) *deduper {
	config.Window = cmp.Or(config.Window, 24*time.Hour)
	config.Noun = cmp.Or(config.Noun, "call")
	return &deduper{DedupeConfig: config, repeats: make(chan struct{}, 1)}
}

// soon is when a new guard looks at what an earlier process left behind: after the first answers, which must not wait.
const soon = time.Second

// send is the rest of the chain for one request.
type send func(context.Context) (*mcp.CallToolResult, error)

func (d *deduper) layer(next mcpserver.ToolHandlerFunc) mcpserver.ToolHandlerFunc {
	return func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		id, err := d.Identify(request)
		if err != nil {
			return nil, err
		}
		id.Tool, id.CallID = request.Params.Name, callID(request)
		under, mine := d.flights.enter(id.Fingerprint)
		if !mine {
			return d.join(ctx, under, id)
		}
		defer d.flights.leave(id.Fingerprint, under)
		under.landed = d.once(ctx, id, func(ctx context.Context) (*mcp.CallToolResult, error) { return next(ctx, request) })
		if warning := d.warning(); warning != "" && under.landed.result != nil {
			annotate(under.landed.result, mark{Note: warning})
		}
		return under.landed.result, under.landed.err
	}
}

func (d *deduper) warning() string {
	if d.Warning == nil {
		return ""
	}
	return d.Warning()
}

// once ends the call id with one effect: by an earlier result, by a settled one, or by sending. An upstream that answers a
// further key as it did the last one is broken, and not asked again.
func (d *deduper) once(ctx context.Context, id idempotency.Identity, next send) landing {
	var echo []byte
	for {
		ended, sent := d.generation(ctx, id, next)
		switch {
		case errors.Is(ended.err, errOvertaken): // what has become of it is in the ledger
		case sent && d.isBygone(ctx, ended) && !bytes.Equal(structured(ended.result), echo):
			echo = structured(ended.result)
		default:
			return ended
		}
	}
}

// isBygone reports whether the upstream had the call from before our ledger knew, and something has happened since, so that it is
// wanted once more.
func (d *deduper) isBygone(ctx context.Context, ended landing) bool {
	return ended.result != nil && isEcho(ended.result) && !d.isRepeat(ctx, ended.record)
}

// generation ends the call by its newest record, or by sending it under a record of its own, and reports whether it sent it.
func (d *deduper) generation(ctx context.Context, id idempotency.Identity, next send) (_ landing, sent bool) {
	record, err := d.Ledger.Claim(ctx, id, idempotency.Record{})
	for err == nil && !record.Owned {
		if record.State == idempotency.Claimed {
			record, err = d.await(ctx, record) // what it has become is met in the next round
			continue
		}
		var ended *landing
		if record, ended = d.meet(ctx, id, record); ended != nil {
			return *ended, false
		}
		record, err = d.Ledger.Claim(ctx, id, record)
	}
	if err != nil {
		return landing{err: unusable(err)}, false
	}
	if held := d.reworded(ctx, record); held != nil {
		return *held, false
	}
	return d.run(ctx, record, next), true
}

// meet deals with a record that nobody is working on. Either it ends the call, or it returns the record on which the call
// may be claimed.
func (d *deduper) meet(ctx context.Context, id idempotency.Identity, record idempotency.Record) (idempotency.Record, *landing) {
	switch record.State {
	case idempotency.Finished, idempotency.Settled:
		if d.isRepeat(ctx, record) {
			return record, d.replay(ctx, record, id)
		}
	case idempotency.Unconfirmed:
		look := d.settle(ctx, record)
		switch look.Outcome {
		case idempotency.Done:
			record, _ = d.finish(ctx, record, look.Result, byReading)
			return record, d.replay(ctx, record, id)
		case idempotency.NotDone:
			d.settled(ctx, record, idempotency.NotDone)
		default:
			d.settleLater(ctx, record, look.Wait) // who left it so may be dead
			return record, &landing{err: d.unconfirmed(look.Wait)}
		}
	}
	return record, nil
}

// isRepeat reports whether a call equal to the finished record is a repeat of it, rather than a new one.
func (d *deduper) isRepeat(ctx context.Context, record idempotency.Record) bool {
	if time.Since(record.FirstAt) >= d.Window {
		return false
	}
	if d.Renewed == nil {
		return true
	}
	ctx, cancel := withDeadline(ctx)
	defer cancel()
	return !d.Renewed(ctx, record)
}

// await waits while another process sends the same call, and returns what the record has become; the zero record if the
// call certainly failed.
func (d *deduper) await(ctx context.Context, record idempotency.Record) (idempotency.Record, error) {
	c := callFrom(ctx)
	var err error
	for pause := 10 * time.Millisecond; err == nil && record.State == idempotency.Claimed; pause = min(2*pause, 500*time.Millisecond) {
		if !c.holds(pause) {
			return record, d.unconfirmed(0)
		}
		select {
		case <-time.After(pause):
			record, err = d.Ledger.Look(ctx, record.Fingerprint)
		case <-c.caller.Done():
			return record, &Failure{What: Canceled, NotRun: true, Cause: context.Cause(c.caller)}
		}
	}
	return record, err
}

// unusable makes a failure of the ledger one of the call, which was not made. Whether an earlier one was, only the ledger
// could tell.
func unusable(err error) error {
	if told := (*Failure)(nil); errors.As(err, &told) {
		return err
	}
	return &Failure{
		What: Internal, Says: "the ledger of what was sent could not be used, so whether the same was done before is not known",
		Effect: idempotency.NotDone, NotRun: true, Cause: err,
	}
}

func (d *deduper) unconfirmed(wait time.Duration) error {
	return &Failure{What: Held, Says: unconfirmed(d.Noun, d.Check, wait), Wait: wait, NotRun: true}
}

// withDeadline returns ctx with the deadline of the call, for looks at the upstream.
func withDeadline(ctx context.Context) (context.Context, context.CancelFunc) {
	if deadline := callFrom(ctx).deadline; !deadline.IsZero() {
		return context.WithDeadline(ctx, deadline)
	}
	return context.WithCancel(ctx)
}
