package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// notRun answers a call that the end of the run came before.
const notRun = "Error: not run. The run ended before this call."

// answer is what became of one call of a turn.
type answer struct {
	use      ToolUse
	key      string // canonical form of the call
	unusable error  // what is wrong with the input
	ran      bool   // false: a guard or the end of the run kept it from running
	result   Result
	err      error
	lost     error // that the call could not be written down
}

func newAnswer(use ToolUse) answer {
	if len(use.Input) == 0 {
		use.Input = json.RawMessage("{}")
	}
	key, unusable := callKey(use)
	if unusable != nil {
		key = use.Name + " " + string(use.Input)
	}
	return answer{use: use, key: key, unusable: unusable}
}

// callAll answers the calls of a turn: one result for each, in their order, whatever fails. When a guard ends the run, in
// r.over, the rest is answered without being run.
func (r *run) callAll(ctx context.Context, calls []ToolUse) []ToolResult {
	answers := make([]answer, 0, len(calls))
	for _, use := range calls {
		answers = append(answers, newAnswer(use))
	}
	results := make([]ToolResult, 0, len(calls))
	for rest := answers; len(rest) > 0; {
		batch := rest[:r.together(rest)]
		r.runBatch(ctx, batch)
		for _, a := range batch {
			r.settle(a)
			results = append(results, ToolResult{ID: a.use.ID, Text: a.result.Text, IsError: a.result.IsError})
		}
		rest = rest[len(batch):]
	}
	return results
}

// together returns how many of the calls, from the first, may run at the same time: those that only read, and differ. A
// call that may change something runs alone, after all before it and before all after it. Equal calls wait for one
// another, so that the guard knows how the first ended.
func (r *run) together(calls []answer) int {
	n := 1
	for n < len(calls) && r.readOnly(calls[0].use) && r.readOnly(calls[n].use) && !asked(calls[:n], calls[n].key) {
		n++
	}
	return n
}

func asked(answers []answer, key string) bool {
	return slices.ContainsFunc(answers, func(a answer) bool { return a.key == key })
}

func (r *run) readOnly(use ToolUse) bool { return r.tools[use.Name].ReadOnly }

// runBatch runs the calls at the same time and waits for all of them.
func (r *run) runBatch(ctx context.Context, answers []answer) {
	var running sync.WaitGroup
	for i := range answers {
		a := &answers[i]
		a.ran = r.admit(ctx, a)
		r.cfg.OnEvent(Calling{Step: r.report.Steps, Use: a.use})
		if a.ran {
			running.Go(func() { r.perform(ctx, a) })
		}
	}
	running.Wait()
}

// admit tells whether a call may run, and answers one that may not.
func (r *run) admit(ctx context.Context, a *answer) bool {
	if r.over != nil || r.expired(ctx) != nil {
		a.result = Result{Text: notRun, IsError: true}
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
	case a.unusable != nil:
		text = fmt.Sprintf("Error: %s was not run: %v.", a.use.Name, a.unusable)
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
			result = r.noAnswer(use, result)
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
			r.changes.note(a.key, a.result, Change{Tool: a.use.Name, What: cmp.Or(a.result.Change, a.use.Name), Check: a.result.Check})
		}
	}
	if a.lost != nil && r.over == nil {
		r.over = lost(a.lost)
	}
	r.cfg.OnEvent(Called{Step: r.report.Steps, Use: a.use, Result: a.result, Err: a.err})
}

// noAnswer words a call that brought no answer, for the model. The error itself is not for it.
func (r *run) noAnswer(use ToolUse, known Result) Result {
	text := fmt.Sprintf("Error: %s gave no answer.", use.Name)
	if !r.readOnly(use) {
		text += " The change may have gone through anyway, so check before you repeat it."
	}
	return Result{Text: text, IsError: true, Outcome: Unknown, Change: known.Change, Check: known.Check}
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
