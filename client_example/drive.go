package main

import (
	"cmp"
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
	ticket     string
	live       *claude  // nil: the model of the scenario
	abroad     *abroad  // nil: a server and a help desk for each scenario
	journal    *journal // nil: nothing is kept
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

// listed tells whether the runs must end as listed. Nobody can tell how a real model, another server or an experiment ends.
func (d driver) listed() bool {
	return d.experiment == (experiment{}) && d.live == nil && d.abroad == nil
}

// judge returns an error that names each scenario that did not end as listed, and errHandedOver for a single one that
// ended so. An experiment may end in any way.
func (d driver) judge(outcomes []outcome) error {
	var unlisted []error
	for _, o := range outcomes {
		if o.ending() != o.scenario.ending && d.listed() {
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
	if d.abroad != nil {
		return d.driveAbroad(ctx, s)
	}
	start := time.Now()
	desk, err := openDesk(s)
	if err != nil {
		return outcome{}, err
	}
	defer desk.Close()
	report, err := d.work(ctx, s, desk)
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
	if err := breakDown(desk, s.faults); err != nil {
		desk.Close()
		return nil, err
	}
	return desk, nil
}

// work has the model of a scenario do the task, through a server that ends with the run.
func (d driver) work(ctx context.Context, s scenario, desk *fakeapi.Server) (report agent.Report, err error) {
	flags := append([]string{"--url", desk.URL(), "--ledger", "memory", "--attempt-timeout", "200ms", "--log-format", "text"}, s.server...)
	if d.experiment.attempts > 0 {
		flags = append(flags, "--attempts", strconv.Itoa(d.experiment.attempts))
	}
	tools, err := connect(ctx, d.server, d.serverLog, flags...)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, tools.Close()) }()
	return d.perform(ctx, s, tools, desk)
}

// perform has the model do the task with these tools.
func (d driver) perform(ctx context.Context, s scenario, tools *session, desk *fakeapi.Server) (agent.Report, error) {
	var model agent.Model = script{}
	if s.model != nil {
		model = s.model
	}
	limits := d.experiment.apply(s.limits)
	if d.live != nil {
		model = d.live.instructed(tools.instructions)
		limits.Deadline, limits.MaxTokens = cmp.Or(limits.Deadline, liveDeadline), cmp.Or(limits.MaxTokens, liveMaxTokens)
	}
	// The server answers at the deadline by itself. On a busy machine its words come a little later, and must not get lost.
	limits.Grace = time.Second
	limits.OnEvent = (&transcript{screen: d.screen}).write
	defer d.screen.idle()
	job := agent.Job{Task: taskFor(d.ticket), Model: model, Tools: tools}
	if d.journal != nil { // a nil *journal in an interface would not be nil
		job.Journal = d.journal
	}
	return s.play(ctx, stage{desk: desk, screen: d.screen, job: job, limits: limits})
}

// conclude prints how a run ended.
func (d driver) conclude(o outcome) {
	if d.live != nil && o.report.Err != nil {
		fmt.Fprintf(d.screen, "    %s\n", oneLine(o.report.Err.Error()))
	}
	color := red
	if o.report.Succeeded() {
		color = green
	}
	fmt.Fprint(d.screen, o.note()+d.screen.paint(color, o.ending())+"\n")
}
