package delegate

import (
	"errors"
	"fmt"
	"strings"
)

// Reason says, for machines, why a path gave no result.
type Reason string

// The reasons. Only [Stalled] and [BadResult] are tried again.
const (
	Stalled     Reason = "stalled"      // silent for too long
	Hung        Reason = "hung"         // silent, and it did not end when it was cancelled
	BadResult   Reason = "bad_result"   // empty or without sources
	ToolFailed  Reason = "tool_failed"  // no result, after a tool failed that the server had tried already
	Broken      Reason = "broken"       // an error of another kind, or a panic
	CircuitOpen Reason = "circuit_open" // not asked at all
)

// Failure is how a path failed at a task.
type Failure struct {
	Path   string
	Reason Reason
	// Says is the reason as a noun phrase that people and models may read: "silent for 5s".
	Says string
	// Attempts is how often the sub-loop ran, 0 if the circuit was open.
	Attempts int
	// Err is what lies beneath, for logs; nil if there is nothing beneath.
	Err error
}

// Error returns the path with the reason: "deep-research (silent for 5s, 2 tries)".
func (f *Failure) Error() string {
	switch f.Attempts {
	case 0:
		return fmt.Sprintf("%s (%s)", f.Path, f.Says)
	case 1:
		return fmt.Sprintf("%s (%s, 1 try)", f.Path, f.Says)
	default:
		return fmt.Sprintf("%s (%s, %d tries)", f.Path, f.Says, f.Attempts)
	}
}

// Unwrap returns Err.
func (f *Failure) Unwrap() error { return f.Err }

// repeatable tells whether another attempt is worth its wait.
func (f *Failure) repeatable() bool { return f.Reason == Stalled || f.Reason == BadResult }

// Exhausted is the error of a task that no path could do.
type Exhausted struct {
	// Failures has one entry for each path, in their order.
	Failures []*Failure
}

// Error names each path with its reason, in words that people and models may read.
func (e *Exhausted) Error() string { return "every path failed: " + list(e.Failures) }

// Unwrap returns the failures.
func (e *Exhausted) Unwrap() []error {
	errs := make([]error, 0, len(e.Failures))
	for _, failure := range e.Failures {
		errs = append(errs, failure)
	}
	return errs
}

func list(failures []*Failure) string {
	names := make([]string, 0, len(failures))
	for _, failure := range failures {
		names = append(names, failure.Error())
	}
	return strings.Join(names, ", ")
}

// failed makes a failure of the error of an attempt. The text of an error is not for models; what is, it says by a method
// Reason.
func failed(err error) *Failure {
	failure := &Failure{Reason: Broken, Says: "it broke off", Err: err}
	if errors.Is(err, ErrBadResult) {
		failure.Reason, failure.Says = BadResult, ErrBadResult.Error()
	}
	var worded interface{ Reason() string }
	if errors.As(err, &worded) && worded.Reason() != "" {
		failure.Says = worded.Reason()
	}
	// Never deeper in the chain: there it would be the silence of a sub-loop of the sub-loop.
	if silence, ok := err.(silent); ok {
		failure.Reason, failure.Says = Stalled, silence.Error()
		if silence.hung {
			failure.Reason, failure.Says = Hung, failure.Says+" and not to be stopped"
		}
	}
	return failure
}
