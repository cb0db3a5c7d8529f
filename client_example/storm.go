package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/kitebase/kitebase-mcp/client_example/agent"
)

const (
	agents = 50
	// retries is how many the server's budget allows at once: of its ten tokens half may be spent.
	retries = 5
)

// storms sets many agents to work at once, and when all have ended one more. That one is shown: it finds the circuits open.
func storms(ctx context.Context, on stage) (agent.Report, error) {
	reports, err := crowd(ctx, on.job, on.limits)
	if err != nil {
		return agent.Report{}, err
	}
	sum := sumUp(reports)
	sum.requests = len(on.desk.Requests())
	fmt.Fprint(on.screen, sum)
	return agent.Run(ctx, on.job, on.limits)
}

// crowd has the agents do the job at once, all through one session.
func crowd(ctx context.Context, job agent.Job, limits agent.Config) ([]agent.Report, error) {
	limits.OnEvent = nil // fifty transcripts at once tell nobody anything
	var working sync.WaitGroup
	reports, errs := make([]agent.Report, agents), make([]error, agents)
	for i := range agents {
		working.Go(func() { reports[i], errs[i] = agent.Run(ctx, job, limits) })
	}
	working.Wait()
	return reports, errors.Join(errs...)
}

// storm is what many agents at once did.
type storm struct {
	endings  map[string]int // agents, by how they ended
	calls    int            // of tools
	refused  int            // of these, before anything went out
	requests int            // that reached the help desk
}

// sumUp counts by what the models got to read.
func sumUp(reports []agent.Report) storm {
	sum := storm{endings: map[string]int{}}
	for _, report := range reports {
		sum.endings[fmt.Sprintf("%s after %d step(s)", outcome{report: report}.verdict(), report.Steps)]++
		for _, said := range report.Messages {
			for _, result := range said.Results {
				sum.calls++
				if strings.Contains(result.Text, " was not run: ") {
					sum.refused++
				}
			}
		}
	}
	return sum
}

// String leaves out what is a matter of chance: how many calls were under way before the circuits opened.
func (s storm) String() string {
	var text strings.Builder
	for _, ending := range slices.Sorted(maps.Keys(s.endings)) {
		fmt.Fprintf(&text, "%d agents at once: %s\n", s.endings[ending], ending)
	}
	fmt.Fprintf(&text, "%d calls: ", s.calls)
	if through := s.calls - s.refused; s.requests > through+retries {
		fmt.Fprintf(&text, "%d that were let through became %d requests, more than %d retries\n", through, s.requests, retries)
	} else {
		fmt.Fprintf(&text, "no more requests than calls that were let through, and %d retries\n", retries)
	}
	text.WriteString("one more agent, when they have ended:\n")
	return text.String()
}
