package agent

import (
	"context"
	"errors"
)

// Journal keeps the steps of a run, so that another process can go on with it after a crash. It must be safe for concurrent
// use: the read-only calls of one turn run in parallel.
//
// A run is taken up by running the same job again with the journal of before: what ended then is not done again but taken
// from the journal, and all that the loop knows follows from it. The step that a crash left without an end is done again
// under the same arguments, so whoever serves the tools must recognise a repeat. Time is not kept: a run that is taken up
// has its whole deadline again.
type Journal interface {
	// Begin is called before a step happens. It returns the step as it ended before, and then the step does not happen
	// again; or nil, once the beginning is written where a crash cannot lose it. After an error the step does not happen.
	Begin(step Step) (ended *Step, err error)
	// End is called after a step, with what came of it.
	End(step Step) error
}

// Step is a turn of the model, or a call that a turn asks for.
type Step struct {
	// Number counts the turns from 1, as [Report].Steps does. A call has the number of its turn.
	Number int `json:"step"`
	// Use is the call; nil for a turn.
	Use *ToolUse `json:"use,omitempty"`
	// Turn is what the model answered, without what the loop throws away; nil before the end, and for a call.
	Turn *Turn `json:"turn,omitempty"`
	// Result is what the tool answered; nil before the end, and for a turn.
	Result *Result `json:"result,omitempty"`
	// NoAnswer is the error of a call that brought no answer; else empty.
	NoAnswer string `json:"no_answer,omitempty"`
}

// noJournal keeps nothing.
type noJournal struct{}

func (noJournal) Begin(Step) (*Step, error) { return nil, nil }
func (noJournal) End(Step) error            { return nil }

// journalError is a step that could not be written down.
type journalError struct{ err error }

func (e journalError) Error() string { return "write the run down: " + e.err.Error() }
func (e journalError) Unwrap() error { return e.err }

func lost(err error) *ending {
	return &ending{reason: JournalFailed, why: "the run could not be written down", err: err}
}

// ask has the model take its turn, unless it took it before.
func (r *run) ask(ctx context.Context) (Turn, error) {
	r.cfg.OnEvent(Asking{Step: r.report.Steps})
	step := Step{Number: r.report.Steps}
	ended, err := r.job.Journal.Begin(step)
	switch {
	case err != nil:
		return Turn{}, journalError{err}
	case ended != nil && ended.Turn != nil:
		return *ended.Turn, nil
	}
	turn, err := r.next(ctx)
	if err != nil {
		return turn, err // a turn that failed may be asked for again
	}
	if turn.StopReason == StopMaxTokens {
		turn.Calls, turn.Raw = nil, nil // half a call is no JSON
	}
	step.Turn = &turn
	if err := r.job.Journal.End(step); err != nil {
		return turn, journalError{err}
	}
	return turn, nil
}

// perform runs a call that was admitted, unless it ran before.
func (r *run) perform(ctx context.Context, a *answer) {
	step := Step{Number: r.report.Steps, Use: &a.use}
	ended, err := r.job.Journal.Begin(step)
	switch {
	case err != nil:
		a.ran, a.lost = false, journalError{err}
		a.result = Result{Text: notRun, IsError: true}
		return
	case ended != nil && ended.Result != nil:
		a.result, a.err = *ended.Result, ended.noAnswer()
		return
	}
	a.result, a.err = r.call(ctx, a.use)
	if a.err != nil {
		if ctx.Err() != nil {
			return // interrupted: the answer may still be had when the run is taken up
		}
		step.NoAnswer = a.err.Error()
	}
	step.Result = &a.result
	if err := r.job.Journal.End(step); err != nil {
		a.lost = journalError{err}
	}
}

func (s Step) noAnswer() error {
	if s.NoAnswer == "" {
		return nil
	}
	return errors.New(s.NoAnswer)
}
