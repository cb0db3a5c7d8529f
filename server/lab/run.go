package lab

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// Run drives the server through the cases and returns what they showed. It fails if the settings are wrong, the server does
// not become ready at its first start, it lacks the tools of all cases that would count, or ctx ends; then no process of the server
// is left. A later start that fails is what its case showed.
func Run(ctx context.Context, config Config) (*Report, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	config = config.withDefaults()
	tools, err := tryOut(ctx, config)
	if err != nil {
		return nil, err
	}
	cases := matching(config.Cases)
	if err := runnable(cases, tools); err != nil {
		return nil, err
	}
	results := make([]Result, len(cases))
	var (
		under  sync.WaitGroup
		places = make(chan struct{}, config.Parallel)
		mu     sync.Mutex // of what follows
		done   int
		failed error
	)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	for i, each := range cases {
		places <- struct{}{}
		under.Go(func() {
			defer func() { <-places }()
			result, err := run(ctx, config, each, tools)
			mu.Lock()
			defer mu.Unlock()
			if err != nil && failed == nil {
				failed = fmt.Errorf("case %s: %w", each.Name, err)
				stop()
			}
			results[i] = result
			if done++; config.Done != nil && failed == nil {
				config.Done(done, len(cases), result)
			}
		})
	}
	under.Wait()
	if failed != nil {
		return nil, failed
	}
	report := NewReport(config.Command, results)
	report.CallLimitMS = config.CallLimit.Milliseconds()
	return report, nil
}

// tryOut starts the server once, and returns its tools.
func tryOut(ctx context.Context, config Config) ([]string, error) {
	s, err := newScene(ctx, config, false)
	if err != nil {
		return nil, err
	}
	defer s.close()
	s.server.end(ctx)
	known := append(readers(), "assign_ticket", sender)
	if !slices.ContainsFunc(s.tools, func(name string) bool { return slices.Contains(known, name) }) {
		return nil, fmt.Errorf("the server has none of the tools search_help, get_ticket, search_tickets, assign_ticket and reply_to_customer; it has %s", shortened(fmt.Sprintf("%q", s.tools), 600))
	}
	return s.tools, nil
}

// runnable fails if no case can be run: a card without one would look clean. Cases that do not count are enough only if no
// other was asked for.
func runnable(cases []Case, tools []string) error {
	counted := slices.ContainsFunc(cases, func(c Case) bool { return !c.Keyless })
	missing := ""
	for _, each := range cases {
		if counted && each.Keyless {
			continue
		}
		if missing = each.lacks(tools); missing == "" {
			return nil
		}
	}
	return fmt.Errorf("nothing to judge: the server lacks the tools of every case that was asked for, such as %s; it has %q", missing, tools)
}

// run runs one case.
func run(ctx context.Context, config Config, each Case, tools []string) (Result, error) {
	result := Result{
		Name: each.Name, Breaks: each.Breaks, Does: each.Does, Judged: each.Judged, Counted: !each.Keyless,
		Findings: []Finding{}, Calls: []Call{}, Requests: []Request{}, Emails: []Email{}, Events: []Event{},
	}
	if lacks := each.lacks(tools); lacks != "" {
		result.Skipped = "the server has no tool " + lacks
		return result, ctx.Err()
	}
	if err := ctx.Err(); err != nil {
		return result, err
	}
	s, err := newScene(ctx, config, each.Keyless)
	if failed := (*startError)(nil); errors.As(err, &failed) && ctx.Err() == nil {
		result.Findings = append(result.Findings, Finding{Kind: Unanswered, Count: 1, Says: "no call could be made: the server did not start: " + failed.why() + "."})
		result.Findings = append(result.Findings, strayFindings(failed.stray)...)
		result.LastWords = failed.lastWords
		return result, nil
	}
	if err != nil {
		return result, err
	}
	defer s.close()
	each.play(s)
	is := s.finish()
	if err := ctx.Err(); err != nil {
		return result, err
	}
	s.fill(&result, is)
	return result, nil
}

// fill writes down what happened. All calls are over, but for those that the host has cancelled: an answer to them comes too
// late.
func (s *scene) fill(result *Result, is truth) {
	s.mu.Lock()
	for _, call := range s.calls {
		result.Calls = append(result.Calls, *call)
	}
	result.Events = append(result.Events, s.events...)
	result.LastWords = s.lastWords
	s.mu.Unlock()
	for _, r := range s.kitebase.Requests() {
		if r.Operation == "" || r.At.Before(s.began) {
			continue
		}
		result.Requests = append(result.Requests, Request{s.since(r.At), r.Operation, r.Status, string(r.Fault), r.IdempotencyKey != ""})
	}
	for _, email := range is.emails {
		result.Emails = append(result.Emails, Email{AtMS: s.since(email.SentAt), Ticket: email.TicketID, Body: shortened(email.Body, 600)})
	}
	asked := replies(result.Calls)
	for _, i := range strays(asked, is) {
		result.Emails[i].TooMany = true
	}
	for _, r := range asked {
		got := r.emails(is)
		for n, i := range got {
			result.Emails[i].TooMany = n >= r.wanted
		}
		if !r.texts[0].hopeless {
			result.Wanted += r.wanted
			result.Delivered += min(len(got), r.wanted)
		}
	}
	result.Findings = judge(result.Calls, is, s.config.CallLimit)
}
