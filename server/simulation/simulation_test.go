package simulation_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// run plays a schedule in a bubble of its own.
func run(t *testing.T, schedule Schedule) (failures []Failure, history []string) {
	defer func() {
		if stuck := recover(); stuck != nil { // the bubble cannot end
			failures = append(failures, Failure{"no goroutine is left", fmt.Sprint(stuck)})
		}
	}()
	// Time stands still in a bubble in which somebody waits for a mutex whose owner waits for time.
	stands := time.AfterFunc(time.Minute, func() { panic("time stands still; to see it again: " + again(t, schedule)) })
	defer stands.Stop()
	synctest.Test(t, func(*testing.T) { failures, history = play(schedule) })
	return failures, history
}

// TestSchedules runs schedules until one fails.
func TestSchedules(t *testing.T) {
	var done, found atomic.Int64
	var report sync.Mutex
	t.Cleanup(func() { t.Logf("%d schedules from seed %d", done.Load(), *seed) })
	for worker := range runtime.GOMAXPROCS(0) {
		t.Run(fmt.Sprint("worker ", worker), func(t *testing.T) {
			t.Parallel()
			for found.Load() == 0 {
				n := done.Add(1) - 1
				if n >= int64(*schedules) {
					done.Add(-1)
					return
				}
				schedule := generate(*seed + uint64(n))
				failures, what := run(t, schedule)
				switch {
				case len(failures) == 0 && *history:
					t.Logf("seed %d holds; what happened:\n%s", schedule.Seed, strings.Join(what, "\n"))
				case len(failures) == 0:
				case *keepGoing:
					t.Errorf("seed %d fails: %.300s", schedule.Seed, failures[0].String())
					t.Log("to see it again:", again(t, schedule))
				case found.Add(1) == 1:
					report.Lock()
					defer report.Unlock()
					tell(t, schedule, failures, what)
				}
			}
		})
	}
}

// repeats is how often a schedule that failed is played again.
const repeats = 100

// tell reports a schedule that failed: how, how often, and the shortest that still does.
func tell(t *testing.T, schedule Schedule, failures []Failure, what []string) {
	t.Errorf("seed %d fails: %s", schedule.Seed, failures[0])
	for _, f := range failures[1:] {
		t.Log("and:", f)
	}
	t.Log("to see it again:", again(t, schedule))
	if *history {
		t.Log("what happened:\n" + strings.Join(what, "\n"))
	}
	if !*shrinking {
		t.Log("\n" + schedule.String())
		return
	}
	check := failures[0].Check
	t.Logf("it fails %d of %d times", often(t, schedule, check), repeats)
	shortest := shrink(t, schedule, check)
	t.Logf("the shortest that fails, %d of %d times:\n%s", often(t, shortest, check), repeats, shortest)
	if same, what := run(t, shortest); len(same) > 0 {
		failures = same
		t.Logf("%s\n%s", failures[0], strings.Join(what, "\n"))
	}
	t.Log("to keep it, put this into a file of testdata/schedules:\n" + kept{failures[0].String(), shortest}.String())
}

// often returns how many of the repeats fail that check.
func often(t *testing.T, schedule Schedule, check string) (n int) {
	for range repeats {
		failures, _ := run(t, schedule)
		if slices.ContainsFunc(failures, func(f Failure) bool { return f.Check == check }) {
			n++
		}
	}
	return n
}
