package agent

import "fmt"

// guard keeps the model from asking for the same call again and again. Two habits are stopped: repeating a call that
// fails, and repeating one that succeeds but brings nothing new. Repeating a search that worked is otherwise fine, and a
// guard that looks at failures alone has been seen to let a run go in circles. The answer to a blocked call tells the
// model so, once; a model that was told and goes on is not told twice.
type guard struct {
	maxFailures int // -1: off
	maxRepeats  int // -1: off

	failures map[string]int // by call, since its last success
	blocked  int            // calls not run for their failures

	lastKey, lastText string // the last successful call and its answer
	repeats           int    // how often in a row
}

// check returns the text to answer instead of running the call, or "" if it may run. An ending comes with it when the
// model has been told before.
func (g *guard) check(name, key string) (string, *ending) {
	if failed := g.failures[key]; g.maxFailures > 0 && failed >= g.maxFailures {
		g.blocked++
		text := fmt.Sprintf("Error: not run. This exact call already failed %s. Don't repeat it: change the input, use another tool, or stop and explain.", times(failed))
		if g.blocked < 2 {
			return text, nil
		}
		return text, &ending{reason: Stuck, why: fmt.Sprintf("Claude kept repeating %s although it had failed %s", name, times(failed))}
	}
	if g.maxRepeats > 0 && g.repeats >= g.maxRepeats && key == g.lastKey {
		text := fmt.Sprintf("Error: not run. This exact call already brought the same answer %s in a row.", times(g.repeats))
		return text, &ending{reason: NoProgress, why: fmt.Sprintf("Claude kept repeating %s although it brought the same answer %s in a row", name, times(g.repeats))}
	}
	return "", nil
}

// note takes up what a call brought.
func (g *guard) note(key string, result Result) {
	if result.IsError {
		g.failures[key]++
		g.repeats = 0
		return
	}
	delete(g.failures, key)
	if key != g.lastKey || result.Text != g.lastText {
		g.lastKey, g.lastText, g.repeats = key, result.Text, 0
	}
	g.repeats++
}

// nudge returns what to tell the model beside the results, or "".
func (g *guard) nudge() string {
	if g.maxRepeats < 0 || g.repeats < g.maxRepeats {
		return ""
	}
	return fmt.Sprintf("The same call brought the same answer %s in a row. Use what you have, try something else, or stop and explain.", times(g.repeats))
}

func times(n int) string {
	if n == 1 {
		return "1 time"
	}
	return fmt.Sprintf("%d times", n)
}
