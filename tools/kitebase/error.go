package kitebase

import (
	"context"
	"strings"
	"time"

	"github.com/kitebase/kitebase-mcp/idempotency"
)

// The kinds of failure that the client tells apart.
const (
	KindInvalid       = "invalid"       // the input was refused
	KindNotFound      = "not_found"     // there is nothing of that name
	KindConflict      = "conflict"      // it does not fit the state of the ticket
	KindKeyReused     = "key_reused"    // the key was used before, with another message
	KindInProgress    = "in_progress"   // the first request with this key is still running
	KindDenied        = "denied"        // the token is not accepted, or may not do this
	KindRateLimited   = "rate_limited"  // too many requests
	KindUnavailable   = "unavailable"   // no connection, a cut one, or a server error
	KindTimeout       = "timeout"       // the deadline of the context passed
	KindCanceled      = "canceled"      // the caller went away
	KindBadAnswer     = "bad_answer"    // an answer that cannot be read or is not about what was asked
	KindMisconfigured = "misconfigured" // what answers is not the API of Kitebase
)

// Error is why a call gave no result. All its texts are free of the token, of addresses and of anything that came from
// upstream; Error is for logs, Reason for people and models. It is never changed after it was returned.
type Error struct {
	Operation   string // like get_ticket
	Status      int    // of the answer; 0 if there was none
	ProblemType string // type of the problem document (RFC 9457); "" if there was none
	RequestID   string // X-Request-Id of the answer; "" if there was none

	verdict
	retryAfter time.Duration
	refused    bool
	detail     string // for logs; our words, or those of the operating system
	err        error
}

// Error describes the failure on one line, for logs.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Operation + ": " + e.kind + ": " + strings.TrimSuffix(e.reason, "."))
	if e.detail != "" {
		b.WriteString(": " + e.detail)
	}
	b.WriteString(" (outcome " + e.outcome.String())
	if e.RequestID != "" {
		b.WriteString(", request id " + e.RequestID)
	}
	b.WriteString(")")
	return b.String()
}

// Unwrap returns the error of the connection or of the decoder, if that is what went wrong. Its text may hold the address
// of Kitebase or words from upstream: look at it, do not show it.
func (e *Error) Unwrap() error { return e.err }

// StatusCode returns the HTTP status of the answer, 0 if there was none.
func (e *Error) StatusCode() int { return e.Status }

// Kind returns one of the Kind constants.
func (e *Error) Kind() string { return e.kind }

// Reason returns what went wrong in words that may be shown to a model; the file reason.go has the rules.
func (e *Error) Reason() string { return e.reason }

// Outcome returns what is known about the effect of the call.
func (e *Error) Outcome() idempotency.Outcome { return e.outcome }

// Retryable reports whether a later try could end differently. Whether it is safe to try is not the client's business.
func (e *Error) Retryable() bool {
	switch e.kind {
	case KindRateLimited, KindUnavailable, KindTimeout, KindBadAnswer, KindInProgress:
		return true
	}
	return false
}

// RetryAfter returns how long Kitebase asked to wait before the next try, between 0 (it did not ask) and 24 hours.
func (e *Error) RetryAfter() time.Duration { return e.retryAfter }

// Refused reports that the client refused the arguments before anything went out.
func (e *Error) Refused() bool { return e.refused }

// ended returns the verdict on a call whose context has ended, and false while it has not. The context is asked and not
// the error: with a cancel cause, or in the middle of a body, the error can be any other.
func ended(ctx context.Context, outcome idempotency.Outcome) (verdict, bool) {
	switch ctx.Err() {
	case nil:
		return verdict{}, false
	case context.DeadlineExceeded:
		return verdict{KindTimeout, reasonTimeout, outcome}, true
	default:
		return verdict{KindCanceled, reasonCanceled, outcome}, true
	}
}
