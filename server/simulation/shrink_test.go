package simulation_test

import (
	"slices"
	"testing"
	"time"
)

// shrinker makes a schedule that fails as short as it can, so that people see what it takes.
type shrinker struct {
	t     *testing.T
	check string // that must fail, lest it ends at another fault
	left  int    // how many more schedules it may play
}

// triesOfFlaky is how often a schedule is played before it counts as one that does not fail.
const triesOfFlaky = 3

// shrink returns the shortest schedule found that still fails the same check: without the events that it does not need,
// with half the waits as often as that works, and in the plainest world that does it.
func shrink(t *testing.T, schedule Schedule, check string) Schedule {
	s := &shrinker{t: t, check: check, left: 1500}
	for {
		before := len(schedule.Events)
		schedule = s.drop(schedule)
		schedule = s.plain(schedule)
		schedule = s.hasten(schedule)
		if len(schedule.Events) == before || s.left <= 0 {
			return schedule
		}
	}
}

// fails reports whether the schedule still fails.
func (s *shrinker) fails(schedule Schedule) bool {
	for range triesOfFlaky {
		if s.left--; s.left < 0 {
			return false
		}
		failures, _ := run(s.t, schedule)
		if slices.ContainsFunc(failures, func(f Failure) bool { return f.Check == s.check }) {
			return true
		}
	}
	return false
}

// drop leaves out events, at first many at once (ddmin).
func (s *shrinker) drop(schedule Schedule) Schedule {
	for size := max(1, len(schedule.Events)/2); ; size /= 2 {
		for from := 0; from < len(schedule.Events); {
			without := schedule
			without.Events = slices.Delete(slices.Clone(schedule.Events), from, min(from+size, len(schedule.Events)))
			if s.fails(without) {
				schedule = without
			} else {
				from += size
			}
		}
		if size == 1 {
			return schedule
		}
	}
}

// plain gives up what is special about the world.
func (s *shrinker) plain(schedule Schedule) Schedule {
	for _, simplify := range []func(*Setup){
		func(w *Setup) { w.Standby = false },
		func(w *Setup) { w.Latency = 0 },
		func(w *Setup) { w.AliveLag = 0 },
		func(w *Setup) { w.KitebaseClock = 0 },
		func(w *Setup) { w.RetryBudget = 10 },
		func(w *Setup) { w.Threshold, w.Cooldown = 5, 30*time.Second },
		func(w *Setup) { w.Window = 24 * time.Hour },
		func(w *Setup) { w.SettleAfter = 30 * time.Second },
		func(w *Setup) { w.AttemptTimeout, w.CallDeadline = 5*time.Second, 25*time.Second },
		func(w *Setup) { w.Attempts = 2 },
	} {
		plainer := schedule
		simplify(&plainer.Setup)
		if plainer.Setup != schedule.Setup && s.fails(plainer) {
			schedule = plainer
		}
	}
	return schedule
}

// hasten halves the waits between events.
func (s *shrinker) hasten(schedule Schedule) Schedule {
	for i := range schedule.Events {
		for {
			sooner := schedule
			sooner.Events = hastened(schedule.Events, i)
			if sooner.Events == nil || !s.fails(sooner) {
				break
			}
			schedule = sooner
		}
	}
	return schedule
}

// hastened returns the events with half the wait before the one at i, nil if it is too short for that. Each keeps its own
// microseconds, so that no two share an instant.
func hastened(events []Event, i int) []Event {
	before := time.Duration(0)
	if i > 0 {
		before = events[i-1].At
	}
	by := ((events[i].At - before) / 2).Truncate(time.Millisecond)
	if by <= 0 {
		return nil
	}
	sooner := slices.Clone(events)
	for j := i; j < len(sooner); j++ {
		sooner[j].At -= by
	}
	return sooner
}
