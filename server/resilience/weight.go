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

// verdict says what a call counts as that ended with err, nil being an answer. After the caller has left, whatever a handler
// says may be due to that.
func verdict(ctx context.Context, err error) weight {
	switch {
	case err == nil:
		return answer
	case ctx.Err() != nil:
		return nothing
	default:
		return countsAs(err)
	}
}
