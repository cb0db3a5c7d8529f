package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/kitebase/kitebase-mcp/client_example/agent"
	"github.com/kitebase/kitebase-mcp/client_example/delegate"
)

// earlierTicket is one whose research failed before the run, and told so by the circuit.
const earlierTicket = "KITE-101"

// parent is the script with the research handed to sub-loops. Its run takes the place of agent.Run.
//
//	get_ticket ──► research ──► reply_to_customer ──► end_turn
//	                  ├─ deep-research
//	                  └─ quick-search
type parent struct {
	deep    agent.Model     // of deep-research; quick-search always works as well as its tools
	config  delegate.Config // of both
	earlier bool            // the research for an earlier ticket comes before the run
}

// Next decides by the length of the conversation: what fails ends the run.
func (parent) Next(_ context.Context, request agent.Request) (agent.Turn, error) {
	n := len(request.Messages)
	if n == 1 {
		return ask(n, "get_ticket", "ticket_id", ticketID), nil
	}
	result := request.Messages[n-1].Results[0]
	switch {
	case n == 3 && !result.IsError:
		return ask(n, "research", "question", "What fits "+ticketID+", "+problem+"?"), nil
	case n == 5 && !result.IsError:
		var answer delegate.Finding
		read(result.Text, &answer)
		return ask(n, "reply_to_customer", "ticket_id", ticketID, "message", "Sorry that you are locked out. "+answer.Summary), nil
	case n > 5:
		return afterReply(result), nil
	default:
		return end("I could not read " + ticketID + ", so I did not reply to the customer."), nil
	}
}

// run does the job with sub-loops that work with the same tools. It prints by itself that an answer was a degraded one.
func (p parent) run(ctx context.Context, screen *screen, job agent.Job, limits agent.Config) (agent.Report, error) {
	cfg := p.config
	cfg.Grace = 2 * time.Second // a busy machine may be slow to stop a sub-loop
	cfg.OnCircuit = func(path, state string) {
		fmt.Fprintf(screen, "    the circuit of %s is %s\n", path, state)
	}
	d, err := delegate.New(cfg, delegate.DeepResearch(p.deep, job.Tools), delegate.QuickSearch(modelFunc(glances), job.Tools))
	if err != nil {
		return agent.Report{}, err
	}
	told := researchTranscript{screen: screen, inner: &transcript{screen: newScreen(inset{screen}, nil)}}
	if p.earlier {
		if err := researchEarlier(ctx, d, told, cfg.Cooldown); err != nil {
			return agent.Report{}, err
		}
	}
	report, err := d.Run(ctx, job, limits, told.write)
	if note := report.Degraded(); note != "" {
		fmt.Fprintln(screen, note)
	}
	return report.Report, err
}

// researchEarlier has the research for an earlier ticket fail. A cooldown is waited out, if there is one.
func researchEarlier(ctx context.Context, d *delegate.Delegate, told researchTranscript, cooldown time.Duration) error {
	fmt.Fprintf(told.screen, "before, for %s:\n", earlierTicket)
	_, err := d.Do(ctx, "What fits "+earlierTicket+"?", told.write)
	if ctx.Err() != nil {
		return nil // the run that follows says so
	}
	if err != nil {
		return fmt.Errorf("research %s: %w", earlierTicket, err)
	}
	over := time.NewTimer(2 * cooldown)
	defer over.Stop()
	select {
	case <-over.C:
	case <-ctx.Done():
	}
	return nil
}

// researchTranscript prints what sub-loops do, set off from what the parent does:
//
//	deep-research: attempt 1
//	| [1] search_help {"query": "locked out after SSO change"}
//	|     -> {"articles": [{"id": "account-recovery#2", "title": "Account recovery", ...
//
// The wait before another attempt is random, and left out: a transcript is the same each time.
type researchTranscript struct {
	screen *screen
	inner  *transcript
}

func (t researchTranscript) write(event delegate.Event) {
	switch e := event.(type) {
	case delegate.Attempting:
		fmt.Fprintf(t.screen, "    %s: attempt %d\n", e.Path, e.Attempt)
	case delegate.Heard:
		t.inner.write(e.Event)
	case delegate.Retrying:
		fmt.Fprintf(t.screen, "    %s: %s. Trying again.\n", e.Failure.Path, e.Failure.Says)
	case delegate.GaveUp:
		fmt.Fprintf(t.screen, "    gave up: %s\n", e.Failure)
	}
}

// inset sets whole lines off from the others.
type inset struct{ out io.Writer }

func (i inset) Write(p []byte) (int, error) {
	var text strings.Builder
	for line := range strings.Lines(string(p)) {
		text.WriteString("    | " + line)
	}
	if _, err := io.WriteString(i.out, text.String()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// silentModel searches once, slowly enough to be alive, and is then never heard of again.
type silentModel struct{}

// Next hangs in the second turn, until ctx ends.
func (silentModel) Next(ctx context.Context, request agent.Request) (agent.Turn, error) {
	if len(request.Messages) == 1 {
		return digs(request)
	}
	<-ctx.Done()
	return agent.Turn{}, fmt.Errorf("wait for the model: %w", context.Cause(ctx))
}
