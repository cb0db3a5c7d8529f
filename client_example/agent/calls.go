package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"
)

// answer is what became of one call of a turn.
type answer struct {
	use    ToolUse
	key    string // canonical form of the call
	ran    bool   // false: a guard or the end of the run kept it from running
	result Result
	err    error
}

// callAll answers the calls of a turn: one result for each, in their order, whatever fails. Neighbouring calls that only
// read run in parallel; a call that may change something runs alone, after all before it and before all after it. When
// a guard ends the run, in r.over, the rest is answered without being run.
func (r *run) callAll(ctx context.Context, calls []ToolUse) []ToolResult {
	results := make([]ToolResult, 0, len(calls))
	for batch := range r.batches(calls) {
		for _, a := range r.runBatch(ctx, batch) {
			r.settle(a)
			results = append(results, ToolResult{ID: a.use.ID, Text: a.result.Text, IsError: a.result.IsError})
		}
	}
	return results
}

// batches yields the calls in groups that may run at the same time.
func (r *run) batches(calls []ToolUse) iter.Seq[[]ToolUse] {
	return func(yield func([]ToolUse) bool) {
		for len(calls) > 0 {
			n := 1
			for n < len(calls) && r.readOnly(calls[0]) && r.readOnly(calls[n]) {
				n++
			}
			if !yield(calls[:n]) {
				return
			}
			calls = calls[n:]
		}
	}
}

func (r *run) readOnly(use ToolUse) bool { return r.tools[use.Name].ReadOnly }

// runBatch runs the calls at the same time and waits for all of them.
func (r *run) runBatch(ctx context.Context, calls []ToolUse) []answer {
	answers := make([]answer, len(calls))
	var running sync.WaitGroup
	for i, use := range calls {
		a := &answers[i]
		a.use = use
		a.ran = r.admit(ctx, a)
		r.cfg.OnEvent(Calling{Step: r.report.Steps, Use: a.use})
		if a.ran {
			running.Go(func() { a.result, a.err = r.call(ctx, a.use) })
		}
	}
	running.Wait()
	return answers
}

// admit tells whether a call may run, and answers one that may not.
func (r *run) admit(ctx context.Context, a *answer) bool {
	if len(a.use.Input) == 0 {
		a.use.Input = json.RawMessage("{}")
	}
	var unusable error
	if a.key, unusable = callKey(a.use); unusable != nil {
		a.key = a.use.Name + " " + string(a.use.Input)
	}
	if r.over != nil || r.expired(ctx) != nil {
		a.result = Result{Text: "Error: not run. The run ended before this call.", IsError: true}
		return false
	}
	var text string
	if text, r.over = r.guard.check(a.use.Name, a.key); text != "" {
		a.result = Result{Text: text, IsError: true}
		return false
	}
	switch {
	case r.tools[a.use.Name].Name == "":
		text = fmt.Sprintf("Error: not run. There is no tool of this name. The tools are: %s.", r.names())
	case unusable != nil:
		text = fmt.Sprintf("Error: %s was not run: %v.", a.use.Name, unusable)
	default:
		return true
	}
	a.result = Result{Text: text, IsError: true}
	r.guard.note(a.key, a.result)
	return false
}

// call runs one call, with the time left to the run. A panic of a tool becomes an error: each call needs its result, and
// a panic on this goroutine would take the whole process along.
func (r *run) call(ctx context.Context, use ToolUse) (result Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("call %s: panic: %v", use.Name, p)
		}
		if err != nil {
			result = r.noAnswer(use, result.Change)
		}
	}()
	call := Call{ToolUse: use}
	if end, ok := r.deadline(); ok {
		call.Remaining = ceilMillisecond(time.Until(end))
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, end.Add(r.cfg.Grace))
		defer cancel()
	}
	return r.job.Tools.Call(ctx, call)
}

// settle tells everyone what became of a call: guard, report and listener.
func (r *run) settle(a answer) {
	if a.ran {
		r.guard.note(a.key, a.result)
		if !r.readOnly(a.use) {
			r.changes.note(a.key, a.result.outcome(), Change{Tool: a.use.Name, What: cmp.Or(a.result.Change, a.use.Name)})
		}
	}
	r.cfg.OnEvent(Called{Step: r.report.Steps, Use: a.use, Result: a.result, Err: a.err})
}

// noAnswer words a call that brought no answer, for the model. The error itself is not for it.
func (r *run) noAnswer(use ToolUse, change string) Result {
	text := fmt.Sprintf("Error: %s gave no answer.", use.Name)
	if !r.readOnly(use) {
		text += " The change may have gone through anyway, so check before you repeat it."
	}
	return Result{Text: text, IsError: true, Outcome: Unknown, Change: change}
}

func (r *run) names() string {
	names := make([]string, 0, len(r.listed))
	for _, tool := range r.listed {
		names = append(names, tool.Name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// ceilMillisecond rounds up: a deadline that is told in whole milliseconds must not end before the real one, or the run
// would take one more turn in the fraction that is left. It is never 0, which would mean that there is no deadline.
func ceilMillisecond(d time.Duration) time.Duration {
	return max(time.Millisecond, (d + time.Millisecond - 1).Truncate(time.Millisecond))
}
