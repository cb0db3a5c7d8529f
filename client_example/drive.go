package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/kitebase/kitebase-mcp/client_example/agent"
	"github.com/kitebase/kitebase-mcp/fakeapi"
)

// driver runs scenarios.
type driver struct {
	server     string // path of the binary
	screen     *screen
	serverLog  io.Writer
	experiment experiment
}

// outcome is how a scenario ended.
type outcome struct {
	scenario scenario
	report   agent.Report
	emails   int
	requests map[string]int // that reached the help desk, by operation
	took     time.Duration
}

// errHandedOver is how a run ends that a person has to pick up. The person has been told.
var errHandedOver = errors.New("handed over")

// driveAll runs scenarios one after the other; more than one end with a table.
func (d driver) driveAll(ctx context.Context, list []scenario) ([]outcome, error) {
	var outcomes []outcome
	for _, s := range list {
		if len(list) > 1 {
			fmt.Fprintf(d.screen, "%s: %s\n", s.name, s.breaks)
		}
		o, err := d.drive(ctx, s)
		if err != nil {
			return outcomes, fmt.Errorf("scenario %s: %w", s.name, err)
		}
		if len(list) > 1 {
			fmt.Fprintln(d.screen)
		}
		outcomes = append(outcomes, o)
	}
	if len(list) > 1 {
		fmt.Fprint(d.screen, table(outcomes))
	}
	return outcomes, nil
}

// judge returns an error that names each scenario that did not end as listed, and errHandedOver for a single one that
// ended so. An experiment may end in any way.
func (d driver) judge(outcomes []outcome) error {
	var unlisted []error
	for _, o := range outcomes {
		if o.ending() != o.scenario.ending && d.experiment == (experiment{}) {
			unlisted = append(unlisted, fmt.Errorf("%s did not end as listed: %s", o.scenario.name, o.scenario.ending))
		}
	}
	if unlisted == nil && len(outcomes) == 1 && !outcomes[0].report.Succeeded() {
		return errHandedOver
	}
	return errors.Join(unlisted...)
}

// drive runs one scenario against a help desk and a server of its own, and prints it. An error means that it could not
// be run to an end, not that it ended badly.
func (d driver) drive(ctx context.Context, s scenario) (outcome, error) {
	start := time.Now()
	desk, err := openDesk(s)
	if err != nil {
		return outcome{}, err
	}
	defer desk.Close()
	report, err := d.work(ctx, s, desk.URL())
	if err != nil {
		return outcome{}, err
	}
	o := outcome{scenario: s, report: report, emails: len(desk.Outbox()), requests: map[string]int{}, took: time.Since(start)}
	for _, request := range desk.Requests() {
		o.requests[request.Operation]++
	}
	d.conclude(o)
	if report.Reason == agent.Canceled {
		return o, errors.New("interrupted")
	}
	return o, nil
}

// openDesk starts the help desk of a scenario and breaks it.
func openDesk(s scenario) (*fakeapi.Server, error) {
	desk, err := fakeapi.Start("127.0.0.1:0", fakeapi.Config{IgnoreKeys: s.keyless})
	if err != nil {
		return nil, fmt.Errorf("start the help desk: %w", err)
	}
	for _, spec := range s.faults {
		operation, fault, err := fakeapi.ParseFault(spec)
		if err == nil {
			err = desk.SetFault(operation, fault)
		}
		if err != nil {
			desk.Close()
			return nil, fmt.Errorf("break the help desk: %w", err)
		}
	}
	return desk, nil
}

// work has the model of a scenario do the task, through a server that ends with the run.
func (d driver) work(ctx context.Context, s scenario, url string) (report agent.Report, err error) {
	flags := append([]string{"--url", url, "--ledger", "memory", "--attempt-timeout", "200ms"}, s.server...)
	if d.experiment.attempts > 0 {
		flags = append(flags, "--attempts", strconv.Itoa(d.experiment.attempts))
	}
	tools, err := connect(ctx, d.server, d.serverLog, flags...)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, tools.Close()) }()
	var model agent.Model = script{}
	if s.model != nil {
		model = s.model
	}
	limits := d.experiment.apply(s.limits)
	// The server answers at the deadline by itself. On a busy machine its words come a little later, and must not get lost.
	limits.Grace = time.Second
	limits.OnEvent = (&transcript{screen: d.screen}).write
	defer d.screen.idle()
	job := agent.Job{Task: task, Model: model, Tools: tools}
	if p, ok := model.(parent); ok {
		return p.run(ctx, d.screen, job, limits)
	}
	return agent.Run(ctx, job, limits)
}

// conclude prints how a run ended, and what a person must know: also of a run that succeeded, since nobody else would look
// after a change that is not confirmed.
func (d driver) conclude(o outcome) {
	if !o.report.Succeeded() {
		fmt.Fprintln(d.screen, o.report.Handover())
		fmt.Fprintln(d.screen, d.screen.paint(red, o.ending()))
		return
	}
	for _, line := range o.report.Unconfirmed() {
		fmt.Fprintln(d.screen, line)
	}
	fmt.Fprintln(d.screen, d.screen.paint(green, o.ending()))
}

// ending is the last line of a run.
func (o outcome) ending() string {
	return fmt.Sprintf("%s after %d step(s), %d email(s) sent", o.verdict(), o.report.Steps, o.emails)
}

func (o outcome) verdict() string {
	if o.report.Succeeded() {
		return fmt.Sprintf("DONE (%s)", o.report.Reason)
	}
	return fmt.Sprintf("FAILED (%s)", o.report.Reason)
}
