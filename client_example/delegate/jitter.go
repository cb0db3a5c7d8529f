package delegate

import (
	"math/rand/v2"
	"time"

	"github.com/cenkalti/backoff/v4"
)

// fullJitter is a [backoff.BackOff] that takes a random time in [0, min(cap, base·2^i)), because the jitter of the
// library is ±50% of the step and lets runs that failed together come back together:
//
//	i                0       1       2       3       4      5 …
//	[0, …)       100ms   200ms   400ms   800ms    1.6s     2s
//
// It ends after a number of waits, and before one that would reach the deadline: then the failure is told at once. It is
// for one sequence of attempts, by one goroutine.
type fullJitter struct {
	base, cap time.Duration
	left      int       // waits that may still come
	deadline  time.Time // zero: none

	bound time.Duration // of the next wait
}

// NextBackOff returns the next wait, or [backoff.Stop].
func (j *fullJitter) NextBackOff() time.Duration {
	if j.left <= 0 {
		return backoff.Stop
	}
	j.left--
	wait := time.Duration(0)
	if j.bound > 0 {
		wait = rand.N(j.bound)
	}
	if !j.deadline.IsZero() && wait >= time.Until(j.deadline) {
		return backoff.Stop
	}
	// Doubled only below half the cap, so that it cannot overflow.
	if j.bound < j.cap/2 {
		j.bound *= 2
	} else if j.bound > 0 {
		j.bound = j.cap
	}
	return wait
}

// Reset starts over with the waits; those that are left do not become more. [backoff.Retry] calls it at its start.
func (j *fullJitter) Reset() { j.bound = min(j.base, j.cap) }
