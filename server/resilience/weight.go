package resilience

import (
	"context"
	"errors"
)

// weight is what a failed call means for the upstream's health.
type weight int

const (
	failure weight = iota
	answer
	nothing
)

// countsAs says what err means; the table stands at [Circuit].
func countsAs(err error) weight {
	var told *Failure
	if errors.As(err, &told) && told.theirs || refused(err) {
		return nothing
	}
	switch kindOf(err) {
	case Unavailable, TimedOut, BadAnswer, Misconfigured:
		return failure
	case NotFound, Invalid, Conflict, KeyReused, Denied:
		return answer
	default:
		return nothing
	}
}

// verdict is what gobreaker is told about a call that ended with err. After the caller has left, whatever a handler says
// may be due to that.
func verdict(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return errUncounted
	}
	switch countsAs(err) {
	case failure:
		return errCounted
	case answer:
		return nil
	default:
		return errUncounted
	}
}
