package resilience

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/kitebase/kitebase-mcp/idempotency"
)

// Ledger keeps one record per call. It must be safe for concurrent use. [idempotency.Memory] is one.
type Ledger interface {
	// Claim makes the caller the owner of the call if the ledger's record is still last (zero: none), and returns the
	// record as it then stands. It must not wait for another owner.
	Claim(ctx context.Context, id idempotency.Identity, last idempotency.Record) (idempotency.Record, error)
	// Save records where an owned record now stands, or fails with [idempotency.ErrMoved].
	Save(ctx context.Context, record idempotency.Record) error
	// Forget removes an owned record after a certain failure, or fails with [idempotency.ErrMoved].
	Forget(ctx context.Context, record idempotency.Record) error
}

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
	Ledger Ledger
	// Identify says which call a request is. Its error is the answer to the call. Required.
	Identify func(mcp.CallToolRequest) (idempotency.Identity, error)
	// Settle looks at the upstream to find out whether an unconfirmed call had its effect. It must only read. Default nil:
	// what is unconfirmed stays so.
	Settle func(context.Context, idempotency.Record) Settlement
	// Renewed reports whether something has happened since the record that makes the same call a new one. Default nil:
	// nothing does.
	Renewed func(context.Context, idempotency.Record) bool
	// Window is how long the same call is a repeat. Default 24h.
	Window time.Duration
}

func (c DedupeConfig) validate() error {
	switch {
	case c.Ledger == nil:
		return errors.New("Dedupe.Ledger is missing; give one, for example idempotency.NewMemory(0)")
	case c.Identify == nil:
		return errors.New("Dedupe.Identify is missing; give the function that says which call a request is")
	case c.Window < 0:
		return fmt.Errorf("Dedupe.Window is %s; give a positive time", c.Window)
	}
	return nil
}

// Dedupe returns the layer that lets a call have its effect once. It gives the handler the key of the call in the
// context ([idempotency.KeyFrom]) and remembers how the call ended:
//
//	done       a repeat gets the first result, marked as such; the handler is not run
//	not done   forgotten; a repeat runs
//	unknown    settled by looking at the upstream; while that does not help, a repeat is not run and told so
//
// The same call made while the first one runs waits for it and shares its ending; it can leave without failing the others.
func Dedupe(config DedupeConfig) mcpserver.ToolHandlerMiddleware {
	d := &dedupe{DedupeConfig: config, window: cmp.Or(config.Window, 24*time.Hour)}
	return func(next mcpserver.ToolHandlerFunc) mcpserver.ToolHandlerFunc {
		return func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			id, err := d.Identify(request)
			if err != nil {
				return nil, err
			}
			return d.flights.share(ctx, id.Fingerprint, func() landing {
				return d.once(ctx, id, func(ctx context.Context) (*mcp.CallToolResult, error) { return next(ctx, request) })
			})
		}
	}
}

type dedupe struct {
	DedupeConfig
	window  time.Duration
	flights flights
}

// send is the rest of the chain for one request.
type send func(context.Context) (*mcp.CallToolResult, error)

// once ends the call id with one effect: by an earlier result, by a settled one, or by sending.
func (d *dedupe) once(ctx context.Context, id idempotency.Identity, next send) landing {
	record, err := d.Ledger.Claim(ctx, id, idempotency.Record{})
	for err == nil && !record.Owned {
		switch record.State {
		case idempotency.Finished:
			if d.repeats(ctx, record) {
				return replayed(record)
			}
		case idempotency.Unconfirmed:
			look := d.settle(ctx, record)
			if look.Outcome == idempotency.Done {
				record = d.save(ctx, record, look.Result)
				return replayed(record)
			}
			if look.Outcome == idempotency.Unknown {
				return landing{err: &Failure{What: Held, Says: unconfirmed(look.Wait), Wait: look.Wait, NotRun: true}}
			}
		default:
			return landing{err: &Failure{What: Held, Says: unconfirmed(0), NotRun: true}}
		}
		record, err = d.Ledger.Claim(ctx, id, record)
	}
	if err != nil {
		return landing{err: &Failure{
			What: Internal, Says: "the ledger of sent calls could not be written", Effect: idempotency.NotDone, NotRun: true, Cause: err,
		}}
	}
	return d.run(ctx, record, next)
}

// repeats reports whether a call equal to the finished record is a repeat of it, rather than a new one.
func (d *dedupe) repeats(ctx context.Context, record idempotency.Record) bool {
	return time.Since(record.FirstAt) < d.window && (d.Renewed == nil || !d.Renewed(ctx, record))
}

// run sends the claimed call and records how it ended, whatever happens.
func (d *dedupe) run(ctx context.Context, record idempotency.Record, next send) landing {
	ended := false
	defer func() {
		if !ended { // a panic passes through: the call may have been sent
			d.saveUnconfirmed(ctx, record)
		}
	}()
	result, err := next(idempotency.WithKey(ctx, record.Key))
	ended = true

	if err == nil && result != nil && !result.IsError {
		return landing{record: d.save(ctx, record, result), result: result}
	}
	if outcomeOf(err) == idempotency.NotDone {
		d.log(ctx, d.Ledger.Forget(context.WithoutCancel(ctx), record))
		return landing{record: record, err: err}
	}
	look := d.settle(ctx, record)
	switch look.Outcome {
	case idempotency.Done:
		annotate(look.Result, mark{Note: confirmed})
		return landing{record: d.save(ctx, record, look.Result), result: look.Result}
	case idempotency.NotDone:
		d.log(ctx, d.Ledger.Forget(context.WithoutCancel(ctx), record))
		return landing{record: record, err: settled{err, idempotency.NotDone}}
	default:
		d.saveUnconfirmed(ctx, record)
		return landing{record: record, result: result, err: err}
	}
}

func (d *dedupe) settle(ctx context.Context, record idempotency.Record) Settlement {
	if d.Settle == nil {
		return Settlement{}
	}
	if deadline := callFrom(ctx).deadline; !deadline.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline)
		defer cancel()
	}
	look := d.Settle(ctx, record)
	if look.Outcome == idempotency.Done && look.Result == nil {
		return Settlement{Wait: look.Wait} // no evidence to show: not settled
	}
	return look
}

// save records success. The answer stands even if that fails: what was sent was sent.
func (d *dedupe) save(ctx context.Context, record idempotency.Record, result *mcp.CallToolResult) idempotency.Record {
	stored, err := json.Marshal(result)
	if err == nil {
		record.State, record.Result = idempotency.Finished, stored
		err = d.Ledger.Save(context.WithoutCancel(ctx), record)
	}
	if !errors.Is(err, idempotency.ErrMoved) { // someone else settled it the same way
		d.log(ctx, err)
	}
	return record
}

func (d *dedupe) saveUnconfirmed(ctx context.Context, record idempotency.Record) {
	record.State = idempotency.Unconfirmed
	d.log(ctx, d.Ledger.Save(context.WithoutCancel(ctx), record))
}

func (d *dedupe) log(ctx context.Context, err error) {
	if err != nil {
		callFrom(ctx).log.ErrorContext(ctx, "the ledger could not be written", "cause", err)
	}
}
