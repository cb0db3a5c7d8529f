package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// Run works on a job until the model ends it or a guard does, and reports. The report is complete, and its conversation
// is valid, however the run ends; an error is returned only for a job or a configuration that cannot be used. When ctx
// ends the run ends soon after, as [Canceled].
func Run(ctx context.Context, job Job, cfg Config) (Report, error) {
	if err := errors.Join(job.validate(), cfg.Validate()); err != nil {
		return Report{}, fmt.Errorf("start a run: %w", err)
	}
	r := newRun(job, cfg.withDefaults())
	end := r.loop(ctx)
	r.report.Reason, r.report.Why, r.report.Err = end.reason, end.why, end.err
	r.report.Elapsed = time.Since(r.start)
	r.report.Changes = r.changes.list
	return r.report, nil
}

// run is the state of one Run.
type run struct {
	job     Job
	cfg     Config
	tools   map[string]Tool
	listed  []Tool
	start   time.Time
	guard   guard
	changes changes
	room    int     // tokens for the next turn
	pauses  int     // turns in a row that the model paused
	over    *ending // set when the guard ends the run amid a turn
	report  Report
}

// ending is how and why a run ended.
type ending struct {
	reason Reason
	why    string
	err    error
}

func newRun(job Job, cfg Config) *run {
	r := &run{
		job:    job,
		cfg:    cfg,
		tools:  map[string]Tool{},
		listed: job.Tools.List(),
		start:  time.Now(),
		guard:  guard{maxFailures: cfg.MaxFailures, maxRepeats: cfg.MaxRepeats, failures: map[string]int{}},
		room:   cfg.MaxTokens,
	}
	if job.Journal == nil {
		r.job.Journal = noJournal{}
	}
	for _, tool := range r.listed {
		r.tools[tool.Name] = tool
	}
	r.report.Messages = []Message{{Role: User, Text: job.Task}}
	return r
}

func (r *run) loop(ctx context.Context) ending {
	for r.cfg.MaxSteps < 0 || r.report.Steps < r.cfg.MaxSteps {
		r.report.Steps++
		if end := r.step(ctx); end != nil {
			return *end
		}
	}
	return ending{reason: MaxSteps, why: fmt.Sprintf("the run hit its %d-step limit", r.cfg.MaxSteps)}
}

// step has the model take one turn and runs the calls that it asks for. It returns nil if the run goes on.
func (r *run) step(ctx context.Context) *ending {
	if end := r.expired(ctx); end != nil {
		return end
	}
	if end := r.spent(); end != nil {
		return end
	}
	turn, err := r.ask(ctx)
	r.report.Usage = r.report.Usage.plus(turn.Usage)
	if err != nil {
		return r.unavailable(ctx, err)
	}
	if end := r.take(turn); end != nil || turn.StopReason != StopToolUse {
		return end
	}
	results := r.callAll(ctx, turn.Calls)
	r.report.Messages = append(r.report.Messages, Message{Role: User, Results: results, Text: r.guard.nudge()})
	return r.over
}

// next has the model take its turn, within the time left to the run. A panic of the model becomes an error: else it would
// take along the only record of what the run has changed.
func (r *run) next(ctx context.Context) (turn Turn, err error) {
	defer func() {
		if p := recover(); p != nil {
			turn, err = Turn{}, fmt.Errorf("ask the model: panic: %v", p)
		}
	}()
	if end, ok := r.deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, end)
		defer cancel()
	}
	return r.job.Model.Next(ctx, Request{Messages: slices.Clone(r.report.Messages), Tools: r.listed, MaxTokens: r.room})
}

// unavailable words a turn that could not be had. A model that was interrupted is not to blame.
func (r *run) unavailable(ctx context.Context, err error) *ending {
	if _, ok := errors.AsType[journalError](err); ok {
		return lost(err)
	}
	if end := r.expired(ctx); end != nil {
		end.err = err
		return end
	}
	return &ending{reason: ModelUnavailable, why: "Claude could not be reached", err: err}
}

// deadline returns when the run has to end; false means never.
func (r *run) deadline() (time.Time, bool) {
	return r.start.Add(r.cfg.Deadline), r.cfg.Deadline > 0
}

// expired returns the ending of a run whose time is over or whose caller went away, nil for any other. The limit counts
// as reached at exactly its time, because a tool that was told the remaining time gives up just then.
func (r *run) expired(ctx context.Context) *ending {
	if err := context.Cause(ctx); err != nil {
		return &ending{reason: Canceled, why: "the run was interrupted", err: err}
	}
	if end, ok := r.deadline(); ok && !time.Now().Before(end) {
		return &ending{reason: Deadline, why: "the run hit its " + strconv.FormatFloat(r.cfg.Deadline.Seconds(), 'f', -1, 64) + "s time limit"}
	}
	return nil
}
