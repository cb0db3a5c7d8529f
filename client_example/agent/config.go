package agent

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// Job is what a run is about. Task, Model and Tools are needed.
type Job struct {
	// Task is the first message to the model.
	Task  string
	Model Model
	Tools Tools
	// Journal keeps the run for another process to go on with. It may be left out: then the run is lost with its process.
	Journal Journal
}

// Config holds the limits of a run. The zero value works.
type Config struct {
	// MaxSteps bounds the turns that the model may take; -1 turns the limit off. Default 8.
	MaxSteps int
	// Deadline bounds the whole run; -1 turns it off. Default 30s.
	Deadline time.Duration
	// Grace is how long after the deadline the answer of a tool is waited for. A tool that was told the deadline gives
	// up at it and can still say whether a change went through, which a caller that hangs up would never learn; -1
	// waits no longer than the deadline. Default 100ms.
	Grace time.Duration
	// MaxTokens is the room for one turn; a turn that was cut off is redone once with twice as much. At most 10,500,
	// because clients refuse twice that without streaming. Default 1024.
	MaxTokens int
	// MaxFailures is how often the same call may fail before it is not run any more; -1 turns the guard off. Default 2.
	MaxFailures int
	// MaxRepeats is how often in a row the same call may bring the same answer. The last one brings a nudge along, and
	// one more ends the run; -1 turns the guard off. Default 5.
	MaxRepeats int
	// MaxPauses is how often in a row a turn that the model paused is continued; -1 turns the limit off. Default 3.
	MaxPauses int
	// TokenBudget bounds the tokens of all turns, input and output together. It is checked before each turn, so that it
	// is overrun by one turn at the most; -1 turns it off. Default 200,000.
	TokenBudget int
	// CostBudgetUSD bounds the cost of all turns in US dollars, in the same way; -1 turns it off. Default 1.
	CostBudgetUSD float64
	// OnEvent is told what happens as it happens, on the goroutine that called Run. Default nobody is told.
	OnEvent func(Event)
}

// mostTokens is half of what SDKs accept for a call without streaming (about 21,000).
const mostTokens = 10_500

// Validate returns an error that names each field with a value that cannot be used.
func (c Config) Validate() error {
	var errs []error
	for _, field := range []struct {
		name  string
		value int64
	}{
		{"MaxSteps", int64(c.MaxSteps)},
		{"Deadline", int64(c.Deadline)},
		{"Grace", int64(c.Grace)},
		{"MaxFailures", int64(c.MaxFailures)},
		{"MaxRepeats", int64(c.MaxRepeats)},
		{"MaxPauses", int64(c.MaxPauses)},
		{"TokenBudget", int64(c.TokenBudget)},
	} {
		if field.value < -1 {
			errs = append(errs, fmt.Errorf("%s is %d, but takes a positive value, 0 for the default or -1 for off", field.name, field.value))
		}
	}
	if c.MaxTokens < 0 || c.MaxTokens > mostTokens {
		errs = append(errs, fmt.Errorf("MaxTokens is %d, but takes 0 to %d", c.MaxTokens, mostTokens))
	}
	if cost := c.CostBudgetUSD; cost != -1 && !(cost >= 0) { // NaN is refused as well
		errs = append(errs, fmt.Errorf("CostBudgetUSD is %g, but takes a positive value, 0 for the default or -1 for off", cost))
	}
	return errors.Join(errs...)
}

func (c Config) withDefaults() Config {
	c.MaxSteps = cmp.Or(c.MaxSteps, 8)
	c.Deadline = cmp.Or(c.Deadline, 30*time.Second)
	c.Grace = max(0, cmp.Or(c.Grace, 100*time.Millisecond))
	c.MaxTokens = cmp.Or(c.MaxTokens, 1024)
	c.MaxFailures = cmp.Or(c.MaxFailures, 2)
	c.MaxRepeats = cmp.Or(c.MaxRepeats, 5)
	c.MaxPauses = cmp.Or(c.MaxPauses, 3)
	c.TokenBudget = cmp.Or(c.TokenBudget, 200_000)
	c.CostBudgetUSD = cmp.Or(c.CostBudgetUSD, 1)
	if c.OnEvent == nil {
		c.OnEvent = func(Event) {}
	}
	return c
}

func (j Job) validate() error {
	if j.Task == "" || j.Model == nil || j.Tools == nil {
		return errors.New("a job needs a task, a model and tools")
	}
	return nil
}
