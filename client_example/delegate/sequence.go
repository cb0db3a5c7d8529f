package delegate

import (
	"context"
	"errors"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/kitebase/kitebase-mcp/client_example/agent"
)

// sequence is the attempts of one path at one task. It is used once.
type sequence struct {
	path Path
	cfg  Config
	task string
	hear func(Event)

	attempts   int
	finding    Finding
	last       error  // of the last attempt
	failedTool string // in the last attempt: there is none after it, unless that attempt worked
}

// do tries until there is a result, or no attempt is left or worth it. The error is a callerLeft or a *Failure.
func (s *sequence) do(ctx context.Context) (Finding, error) {
	waits := &fullJitter{base: s.cfg.BackoffBase, cap: s.cfg.BackoffCap, left: s.cfg.Attempts - 1}
	waits.deadline, _ = ctx.Deadline()
	// What backoff returns is not asked: when the context ends in a wait, it has forgotten the last error.
	_ = backoff.RetryNotify(func() error { return s.attempt(ctx) }, backoff.WithContext(waits, ctx), s.told)
	if s.last == nil {
		return s.finding, nil
	}
	if gone := left(ctx); gone != nil {
		return Finding{}, gone
	}
	return Finding{}, s.last
}

// attempt runs the sub-loop once, and keeps what came of it.
func (s *sequence) attempt(ctx context.Context) error {
	s.attempts++
	s.hear(Attempting{Path: s.path.Name, Attempt: s.attempts})
	finding, err := watch{run: s.path.Run, stall: s.cfg.Stall, grace: s.cfg.Grace, hear: s.heard}.once(ctx, s.task)
	if err == nil {
		err = finding.check()
	}
	if err == nil {
		s.finding, s.last = finding, nil
		return nil
	}
	failure := s.failure(err)
	s.last = failure
	if !failure.repeatable() {
		return backoff.Permanent(failure)
	}
	return failure
}

// heard passes an event on, and notes a tool that failed.
func (s *sequence) heard(event agent.Event) {
	if called, ok := event.(agent.Called); ok && called.Result.IsError {
		s.failedTool = called.Use.Name
	}
	s.hear(Heard{Path: s.path.Name, Event: event})
}

// failure says how the attempt failed. The server has tried a failed tool as often as is good for it, so an attempt that
// it spoilt is not repeated, in whatever way it ended.
func (s *sequence) failure(err error) *Failure {
	failure := failed(err)
	failure.Path, failure.Attempts = s.path.Name, s.attempts
	if s.failedTool != "" && failure.repeatable() {
		failure.Reason = ToolFailed
		failure.Says += " after " + s.failedTool + " failed"
	}
	return failure
}

func (s *sequence) told(err error, wait time.Duration) {
	var failure *Failure
	if errors.As(err, &failure) {
		s.hear(Retrying{Failure: failure, Wait: wait})
	}
}
