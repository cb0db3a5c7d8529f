package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/kitebase/kitebase-mcp/client_example/agent"
	"github.com/kitebase/kitebase-mcp/fakeapi"
)

// driver runs scenarios.
type driver struct {
	server    string // path of the binary
	stdout    io.Writer
	serverLog io.Writer
}

// outcome is how a scenario ended.
type outcome struct {
	scenario scenario
	report   agent.Report
	emails   int
	took     time.Duration
}

// driveAll runs scenarios one after the other; more than one end with a table. The error names each that did not end as
// listed.
func (d driver) driveAll(ctx context.Context, list []scenario) error {
	var outcomes []outcome
	var unlisted []error
	for _, s := range list {
		if len(list) > 1 {
			fmt.Fprintf(d.stdout, "%s: %s\n", s.name, s.breaks)
		}
		o, err := d.drive(ctx, s)
		if err != nil {
			return fmt.Errorf("scenario %s: %w", s.name, err)
		}
		if len(list) > 1 {
			fmt.Fprintln(d.stdout)
		}
		if o.ending() != s.ending {
			unlisted = append(unlisted, fmt.Errorf("%s did not end as listed: %s", s.name, s.ending))
		}
		outcomes = append(outcomes, o)
	}
	if len(list) > 1 {
		fmt.Fprint(d.stdout, table(outcomes))
	}
	return errors.Join(unlisted...)
}

// drive runs one scenario against a help desk and a server of its own, and prints it. An error means that it could not
// be run to an end, not that it ended badly.
func (d driver) drive(ctx context.Context, s scenario) (o outcome, err error) {
	o.scenario = s
	start := time.Now()
	desk, err := fakeapi.Start("127.0.0.1:0", fakeapi.Config{})
	if err != nil {
		return o, fmt.Errorf("start the help desk: %w", err)
	}
	defer desk.Close()
	for _, spec := range s.faults {
		operation, fault, err := fakeapi.ParseFault(spec)
		if err == nil {
			err = desk.SetFault(operation, fault)
		}
		if err != nil {
			return o, fmt.Errorf("break the help desk: %w", err)
		}
	}
	tools, err := connect(ctx, d.server, d.serverLog, "--url", desk.URL(), "--ledger", "memory", "--attempt-timeout", "200ms")
	if err != nil {
		return o, err
	}
	defer func() { err = errors.Join(err, tools.Close()) }()

	o.report, err = agent.Run(ctx, agent.Job{Task: task, Model: script{}, Tools: tools}, agent.Config{OnEvent: transcript{d.stdout}.write})
	if err != nil {
		return o, err
	}
	o.emails = len(desk.Outbox())
	o.took = time.Since(start)
	if !o.report.Succeeded() {
		fmt.Fprintln(d.stdout, o.report.Handover())
	}
	fmt.Fprintln(d.stdout, o.ending())
	if o.report.Reason == agent.Canceled {
		return o, errors.New("interrupted")
	}
	return o, nil
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
