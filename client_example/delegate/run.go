package delegate

import (
	"cmp"
	"context"
	"strings"
	"sync"

	"github.com/kitebase/kitebase-mcp/client_example/agent"
)

// ResearchFailed is the reason of a run whose research failed on every path.
const ResearchFailed agent.Reason = "research_failed"

// Report is what came of a run that could delegate. Its Text ends with [Report.Degraded]: whether the model tells is up to
// the model.
type Report struct {
	agent.Report
	// Answers are what the research brought, in the order in which it ended.
	Answers []Answer
}

// Degraded returns the notes of the answers that are degraded, each once; "" if none is.
func (r Report) Degraded() string {
	var notes []string
	seen := map[string]bool{"": true}
	for _, answer := range r.Answers {
		if note := answer.Note(); !seen[note] {
			seen[note] = true
			notes = append(notes, note)
		}
	}
	return strings.Join(notes, " ")
}

// Run is [agent.Run] with one more tool: research, which is done by the paths of d. When all of them fail, the model gets no
// further turn, and the run ends as [ResearchFailed] with a note for a person: an answer made up without research must
// not reach a customer. Hear is told what the research does; it may be nil. It is never called while cfg.OnEvent is.
func (d *Delegate) Run(ctx context.Context, job agent.Job, cfg agent.Config, hear func(Event)) (Report, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	desk := &desk{delegate: d, stop: stop}
	if job.Tools != nil { // else agent.Run says what is missing
		desk.Tools = job.Tools
		job.Tools = desk
	}
	// The tool is called on a goroutine of its own, beside the one of the run.
	var mu sync.Mutex
	cfg.OnEvent = locked(&mu, cfg.OnEvent)
	desk.hear = locked(&mu, hear)
	ran, err := agent.Run(ctx, job, cfg)
	report := Report{Report: ran, Answers: desk.answers}
	report.Text = strings.TrimSpace(report.Text + "\n" + report.Degraded())
	if desk.exhausted != nil {
		report.Reason = ResearchFailed
		report.Why = "the research failed on every path: " + list(desk.exhausted.Failures)
		report.Err = cmp.Or[error](report.Err, desk.exhausted)
	}
	return report, err
}

// locked has a listener called by one goroutine at a time.
func locked[E any](mu *sync.Mutex, listen func(E)) func(E) {
	return func(event E) {
		mu.Lock()
		defer mu.Unlock()
		if listen != nil {
			listen(event)
		}
	}
}
