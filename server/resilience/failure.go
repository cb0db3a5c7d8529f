package resilience

import (
	"context"
	"errors"
	"time"

	"github.com/kitebase/kitebase-mcp/idempotency"
)

// Kind sorts failures by what a caller can do about them. The words are those of `_meta["io.kitebase/error"].kind`.
type Kind string

// The kinds of failure. Retry repeats only those marked transient, and only where a repeat is safe.
const (
	Invalid       Kind = "invalid"       // the input is wrong
	NotFound      Kind = "not_found"     // what the input names does not exist
	Conflict      Kind = "conflict"      // the thing changed meanwhile
	KeyReused     Kind = "key_reused"    // the idempotency key was used for something else
	Held          Kind = "held"          // an earlier call is unconfirmed; this one was not run
	Denied        Kind = "denied"        // the upstream refused the credentials
	RateLimited   Kind = "rate_limited"  // transient: too many requests
	Unavailable   Kind = "unavailable"   // transient: no connection, a cut one, a 5xx
	TimedOut      Kind = "timeout"       // transient: no answer in time
	BadAnswer     Kind = "bad_answer"    // transient: an answer that cannot be used
	Misconfigured Kind = "misconfigured" // a person must mend the settings
	InProgress    Kind = "in_progress"   // transient: the first request with this key still runs
	CircuitOpen   Kind = "circuit_open"  // refused: the upstream keeps failing
	Busy          Kind = "busy"          // refused: too many calls of this tool are under way here
	Canceled      Kind = "canceled"      // the caller went away
	Internal      Kind = "internal"      // a bug, a panic
)

// Kinds returns every kind of failure, in the order of the list above.
func Kinds() []Kind {
	return []Kind{
		Invalid, NotFound, Conflict, KeyReused, Held, Denied, RateLimited, Unavailable, TimedOut, BadAnswer, Misconfigured,
		InProgress, CircuitOpen, Busy, Canceled, Internal,
	}
}

// Failure is an error that answers every question that the layers ask. Handlers may return it, or any error of their own
// with the same methods.
type Failure struct {
	// What is the kind. Default [Internal].
	What Kind
	// Says is a phrase for the model, such as "connection reset by Kitebase", or for [Invalid], [NotFound] and [Held] whole
	// sentences. Plain words, no secret. Default: a phrase of the kind.
	Says string
	// Effect is what is known about the effect. Default unknown.
	Effect idempotency.Outcome
	// Wait is how long the upstream asked to wait. Default 0: it did not ask.
	Wait time.Duration
	// NotRun says that nothing was asked of the upstream. Default false.
	NotRun bool
	// Cause is the error behind it, for logs. Default nil.
	Cause error

	whole  bool // Says is the whole text for the model
	theirs bool // only the caller's own deadline made it a timeout
}

// Error returns the words for logs.
func (f *Failure) Error() string {
	text := f.Kind()
	if f.Says != "" {
		text += ": " + f.Says
	}
	if f.Cause != nil {
		text += ": " + f.Cause.Error()
	}
	return text
}

// Kind returns the kind as a word.
func (f *Failure) Kind() string {
	if f.What == "" {
		return string(Internal)
	}
	return string(f.What)
}

// Retryable reports whether the kind is transient.
func (f *Failure) Retryable() bool {
	switch f.What {
	case RateLimited, Unavailable, TimedOut, BadAnswer, InProgress:
		return !f.NotRun
	default:
		return false
	}
}

// RetryAfter returns how long the upstream asked to wait, 0 if it did not.
func (f *Failure) RetryAfter() time.Duration { return f.Wait }

// Outcome returns what is known about the effect.
func (f *Failure) Outcome() idempotency.Outcome { return f.Effect }

// Reason returns the phrase for the model.
func (f *Failure) Reason() string { return f.Says }

// Refused reports whether nothing was asked of the upstream.
func (f *Failure) Refused() bool { return f.NotRun }

// Unwrap returns the error behind it.
func (f *Failure) Unwrap() error { return f.Cause }

// settled is err with another outcome: what an earlier attempt or a look at the upstream has shown.
type settled struct {
	error
	outcome idempotency.Outcome
}

func (s settled) Outcome() idempotency.Outcome { return s.outcome }
func (s settled) Unwrap() error                { return s.error }

func kindOf(err error) Kind {
	var told interface{ Kind() string }
	switch {
	case errors.As(err, &told):
		return Kind(told.Kind())
	case errors.Is(err, context.DeadlineExceeded):
		return TimedOut
	case errors.Is(err, context.Canceled):
		return Canceled
	default:
		return Internal
	}
}

func outcomeOf(err error) idempotency.Outcome {
	var told interface{ Outcome() idempotency.Outcome }
	if errors.As(err, &told) {
		return told.Outcome()
	}
	return idempotency.Unknown
}

func retryable(err error) bool {
	var told interface{ Retryable() bool }
	return errors.As(err, &told) && told.Retryable()
}

func retryAfter(err error) time.Duration {
	var told interface{ RetryAfter() time.Duration }
	if errors.As(err, &told) {
		return max(0, told.RetryAfter())
	}
	return 0
}

func reasonOf(err error) string {
	var told interface{ Reason() string }
	if errors.As(err, &told) {
		return told.Reason()
	}
	return ""
}

func refused(err error) bool {
	var told interface{ Refused() bool }
	return errors.As(err, &told) && told.Refused()
}
