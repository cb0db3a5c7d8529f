package resilience

import (
	"context"
	"log/slog"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// MetaDeadline is the field of a request's _meta by which a caller says how many milliseconds it will still wait.
const MetaDeadline = "io.kitebase/deadline-ms"

// call is what the layers share about the call under way. It belongs to one call and is used by one goroutine at a time.
type call struct {
	began    time.Time
	arrived  time.Time // zero: not known
	deadline time.Time // zero: none
	// callersDeadline says that the caller itself asked for that deadline: running into it says nothing about the upstream.
	callersDeadline bool
	caller          context.Context
	id              string
	key             string // the idempotency key that the call was made under, or that of the one it repeats
	attempts        int
	trying          time.Duration // the time that the attempts took
	queued          time.Duration // the time from the arrival to the first attempt that was waited for a place
	progress        progress
	words           words
	log             *slog.Logger
	first           attemptContext // of the first attempt, so that it needs no memory of its own
}

// tried books the time of an attempt, and logs it.
func (c *call) tried(ctx context.Context, began time.Time, err error) {
	if c.attempts == 0 {
		return // a probe of the circuit, or Retry has no part in the chain
	}
	took := time.Since(began)
	c.trying += took
	if c.log.Enabled(ctx, slog.LevelDebug) {
		c.log.LogAttrs(ctx, slog.LevelDebug, "attempt ended", slog.String("call", c.id), slog.Int("attempt", c.attempts),
			slog.String("kind", endKind(err)), ms("took_ms", took))
	}
}

type callKey struct{}

// callContext is the context of a call, in one piece of memory with what the layers share about it.
type callContext struct {
	context.Context
	call call
}

// Value returns the call for its key, and else what the context within has.
func (c *callContext) Value(key any) any {
	if key == (callKey{}) {
		return &c.call
	}
	return c.Context.Value(key)
}

// callFrom returns the call that Explain began. A layer that is used without Explain gets one without a deadline.
func callFrom(ctx context.Context) *call {
	if c, ok := ctx.Value(callKey{}).(*call); ok {
		return c
	}
	c := &call{began: time.Now(), caller: ctx, words: words{upstream: "Upstream"}, log: slog.New(slog.DiscardHandler)}
	if at, ok := ctx.Deadline(); ok {
		c.deadline = at
	}
	return c
}

// remaining returns how long the call may still take, and false if nothing limits it.
func (c *call) remaining() (time.Duration, bool) {
	if c.deadline.IsZero() {
		return 0, false
	}
	return time.Until(c.deadline), true
}

// holds reports whether a wait of d ends before the deadline of the call, with something left to work in.
func (c *call) holds(d time.Duration) bool {
	left, limited := c.remaining()
	return !limited || d < left
}

// abandoned reports whether the caller has gone away. A write goes on without its caller, but begins nothing new.
func (c *call) abandoned() bool { return c.caller.Err() != nil }

type arrivalKey struct{}

// WithArrival returns a context that says when the message of a call was read, from where its deadline runs. Transports
// call it; without it the deadline runs from the start of the handler.
func WithArrival(ctx context.Context, at time.Time) context.Context {
	return context.WithValue(ctx, arrivalKey{}, at)
}

// arrival returns when the message of the call was read, or otherwise if nobody has said.
func arrival(ctx context.Context, otherwise time.Time) time.Time {
	if at, ok := ctx.Value(arrivalKey{}).(time.Time); ok {
		return at
	}
	return otherwise
}

// limitTime sets the deadline to the earliest of: limit after the arrival, what the caller asked for, what ctx says.
func (c *call) limitTime(ctx context.Context, request mcp.CallToolRequest, limit time.Duration) {
	c.arrived = arrival(ctx, c.began)
	if limit > 0 {
		c.deadline = c.arrived.Add(limit)
	}
	callers := func(at time.Time) {
		if c.deadline.IsZero() || at.Before(c.deadline) {
			c.deadline, c.callersDeadline = at, true
		}
	}
	if wish, ok := callerWaits(request); ok {
		callers(c.arrived.Add(wish))
	}
	if at, ok := ctx.Deadline(); ok {
		callers(at)
	}
}

// callerWaits returns how long the caller said that it will wait. What is not a number of milliseconds is ignored.
func callerWaits(request mcp.CallToolRequest) (time.Duration, bool) {
	if request.Params.Meta == nil {
		return 0, false
	}
	ms, ok := request.Params.Meta.AdditionalFields[MetaDeadline].(float64)
	const most = float64(24 * time.Hour / time.Millisecond)
	if !ok || ms > most {
		return 0, false
	}
	return time.Duration(max(0, ms) * float64(time.Millisecond)), true
}
