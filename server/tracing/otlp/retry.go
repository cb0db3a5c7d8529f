package otlp

import (
	"context"
	"errors"
	"time"

	"github.com/cenkalti/backoff/v4"
)

// temporary is a failure that another attempt may mend, not before the time that the collector asked for.
type temporary struct {
	error
	after time.Duration
}

// Unwrap returns what failed.
func (t temporary) Unwrap() error { return t.error }

// deliver posts the body until it is taken, refused for good, or another attempt would come too late. It returns the error
// of the last attempt, also if it was given up in the wait after it. The waits are random, around
//
//	1s   1.5s   2.3s   3.4s   5s   5s …    (each between half and one and a half of it)
//
// and at least as long as the collector asked for. Without a deadline the last one begins within a minute.
func (e *Exporter) deliver(ctx context.Context, body []byte) error {
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(e.patient, cancel)()

	waits := &waits{BackOff: exponential(), ctx: ctx}
	var last error
	// What backoff returns is not asked: when the context ends in a wait, it has forgotten the last error.
	_ = backoff.Retry(func() error {
		last = e.post(ctx, body)
		if again := (temporary{}); errors.As(last, &again) {
			waits.after = again.after
			return last
		}
		return backoff.Permanent(last)
	}, backoff.WithContext(waits, waiting))
	return last
}

func exponential() backoff.BackOff {
	return backoff.NewExponentialBackOff(backoff.WithInitialInterval(time.Second), backoff.WithMaxInterval(5*time.Second),
		backoff.WithMaxElapsedTime(time.Minute))
}

// waits are those between the attempts for one batch.
type waits struct {
	backoff.BackOff
	ctx   context.Context
	after time.Duration // that the collector asked for with its last answer
}

// NextBackOff is part of [backoff.BackOff]. It stops at once if the deadline comes first.
func (w *waits) NextBackOff() time.Duration {
	next := w.BackOff.NextBackOff()
	if next == backoff.Stop {
		return backoff.Stop
	}
	next = max(next, w.after)
	if deadline, ok := w.ctx.Deadline(); ok && time.Until(deadline) < next {
		return backoff.Stop
	}
	return next
}
