package delegate

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// Config says when a path counts as failed. The zero value works: two paths that fall silent on each attempt take about
// 20s, which leaves a parent with the usual 30s time to hand over.
type Config struct {
	// Stall is how long a sub-loop may be silent before it is cancelled; -1 lets it be silent for ever. Callers need
	// more time than this, or their own deadline hides the silence from the circuit. Default 5s.
	Stall time.Duration
	// Grace is how long a sub-loop that was cancelled is waited for. One that is still running then is left to itself,
	// and its path is not tried again for this task; -1 does not wait. Default 100ms.
	Grace time.Duration
	// Attempts is how often a path is tried for a task, at the most; -1 means once. Default 2.
	Attempts int
	// BackoffBase and BackoffCap bound the random wait before another attempt: it is less than the smaller of the cap
	// and the base doubled for each wait before; a base of -1 turns the waits off. Default 100ms and 2s.
	BackoffBase, BackoffCap time.Duration
	// Threshold is how many tasks in a row a path fails before its circuit opens; -1 means that it never opens.
	// Default 3.
	Threshold int
	// Cooldown is how long an open circuit refuses tasks before it lets one through as a probe. Default 30s.
	Cooldown time.Duration
	// OnCircuit is told each change of a circuit: the name of the path and "closed", "open" or "half-open". It may be
	// called by several goroutines at once, and must not call the Delegate. Default nobody is told.
	OnCircuit func(path, state string)
}

// Validate returns an error that names each field with a value that cannot be used.
func (c Config) Validate() error {
	var errs []error
	for _, field := range []struct {
		name  string
		value int64
		least int64
	}{
		{"Stall", int64(c.Stall), -1},
		{"Grace", int64(c.Grace), -1},
		{"Attempts", int64(c.Attempts), -1},
		{"BackoffBase", int64(c.BackoffBase), -1},
		{"BackoffCap", int64(c.BackoffCap), 0},
		{"Threshold", int64(c.Threshold), -1},
		{"Cooldown", int64(c.Cooldown), 0},
	} {
		if field.value >= field.least {
			continue
		}
		takes := "a positive value or 0 for the default"
		if field.least < 0 {
			takes = "a positive value, 0 for the default or -1 for off"
		}
		errs = append(errs, fmt.Errorf("%s is %d, but takes %s", field.name, field.value, takes))
	}
	return errors.Join(errs...)
}

func (c Config) withDefaults() Config {
	c.Stall = max(0, cmp.Or(c.Stall, 5*time.Second))
	c.Grace = max(0, cmp.Or(c.Grace, 100*time.Millisecond))
	c.Attempts = max(1, cmp.Or(c.Attempts, 2))
	c.BackoffBase = max(0, cmp.Or(c.BackoffBase, 100*time.Millisecond))
	c.BackoffCap = cmp.Or(c.BackoffCap, 2*time.Second)
	c.Threshold = cmp.Or(c.Threshold, 3)
	c.Cooldown = cmp.Or(c.Cooldown, 30*time.Second)
	if c.OnCircuit == nil {
		c.OnCircuit = func(string, string) {}
	}
	return c
}
