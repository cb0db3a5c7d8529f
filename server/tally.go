package server

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/kitebase/kitebase-mcp/server/resilience"
)

// What is counted is counted for the last minutes, in steps: a step that has passed out of the window is forgotten whole.
const (
	tallyStep  = 10 * time.Second
	tallySteps = 30
	tallyFor   = tallySteps * tallyStep
)

// tallies count how calls ended, tool by tool. They are safe for concurrent use.
type tallies struct {
	began time.Time // on the monotonic clock: setting the clock moves no count
	tools map[string]*tally
}

// tally is the window of one tool.
type tally struct {
	mu   sync.Mutex
	ring [tallySteps]struct {
		step int64
		counts
	}
}

// counts are the calls of a while.
type counts struct {
	calls, attempts, copies int
	failures                map[resilience.Kind]int // made by the first failure
	repeats                 repeats
}

// repeats counts the calls that were recognised as a repeat, by who repeated.
type repeats struct {
	// Retry counts calls that met, in their own retry, what their first attempt had done.
	Retry int `json:"retry"`
	// Host and Model count calls that were answered with an earlier result.
	Host  int `json:"host"`
	Model int `json:"model"`
	// Unknown counts those of which nobody knows who made them first, such as a process whose ledger is gone.
	Unknown int `json:"unknown"`
}

// newTallies counts for the tools of these names.
func newTallies(names []string) *tallies {
	t := &tallies{began: time.Now(), tools: make(map[string]*tally, len(names))}
	for _, name := range names {
		t.tools[name] = new(tally)
	}
	return t
}

// observe counts a call, and tells whoever else observes.
func (s *Server) observe(ctx context.Context, seen resilience.Observation) {
	s.tallies.count(seen)
	s.metrics.Observe(seen)
	observeForAudit(ctx, seen)
	s.config.Tracing.Observe(ctx, seen)
	if also := s.config.Guard.Observe; also != nil {
		also(ctx, seen)
	}
}

func (t *tallies) count(seen resilience.Observation) {
	if one := t.tools[seen.Tool]; one != nil {
		one.add(t.step(), seen)
	}
}

// step is the number of the step that runs now, from 1: the zero value of the ring is none of them.
func (t *tallies) step() int64 { return 1 + int64(time.Since(t.began)/tallyStep) }

// of returns what was counted for a tool in the window.
func (t *tallies) of(tool string) counts { return t.tools[tool].sum(t.step()) }

func (t *tally) add(step int64, seen resilience.Observation) {
	t.mu.Lock()
	defer t.mu.Unlock()
	slot := &t.ring[step%tallySteps]
	if slot.step > step { // a clock read before the lock was taken
		step = slot.step
	}
	if slot.step != step {
		slot.step, slot.counts = step, counts{}
	}
	slot.calls++
	slot.attempts += seen.Attempts
	if seen.ServedBy != "" {
		slot.copies++
	}
	if seen.Kind != "" {
		if slot.failures == nil {
			slot.failures = make(map[resilience.Kind]int)
		}
		slot.failures[seen.Kind]++
	}
	switch {
	case seen.RepeatedBy == "retry":
		slot.repeats.Retry++
	case seen.RepeatedBy == "host":
		slot.repeats.Host++
	case seen.RepeatedBy == "model":
		slot.repeats.Model++
	case seen.Replayed:
		slot.repeats.Unknown++
	}
}

func (t *tally) sum(now int64) counts {
	all := counts{failures: make(map[resilience.Kind]int)}
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.ring {
		if slot := &t.ring[i]; slot.step > now-tallySteps {
			all.add(slot.counts)
		}
	}
	return all
}

func (c *counts) add(more counts) {
	c.calls += more.calls
	c.attempts += more.attempts
	c.copies += more.copies
	for kind, n := range more.failures {
		c.failures[kind] += n
	}
	c.repeats.Retry += more.repeats.Retry
	c.repeats.Host += more.repeats.Host
	c.repeats.Model += more.repeats.Model
	c.repeats.Unknown += more.repeats.Unknown
}

// failed returns how many calls failed.
func (c *counts) failed() int {
	n := 0
	for more := range maps.Values(c.failures) {
		n += more
	}
	return n
}

// successRate is the share of calls that ended well and not with a copy. Calls that failed by their own input, that were
// held back for an earlier one, or that their caller took back say nothing about Kitebase and are left out; nil if none is
// left.
func (c *counts) successRate() *float64 {
	said := c.calls
	for _, kind := range []resilience.Kind{
		resilience.Invalid, resilience.NotFound, resilience.Conflict, resilience.KeyReused, resilience.Held, resilience.Canceled,
	} {
		said -= c.failures[kind]
	}
	if said == 0 {
		return nil
	}
	rate := float64(c.calls-c.failed()-c.copies) / float64(said)
	return &rate
}
