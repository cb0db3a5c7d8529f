package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/kitebase/kitebase-mcp/server/lab"
)

type labCommand struct {
	CallLimit time.Duration `name:"call-limit" default:"60s" takes:"a time above 0, such as 60s" help:"How long a call may take before it counts as unanswered."`
	Parallel  *int          `name:"parallel" placeholder:"N" takes:"a number from 1" help:"Cases at once. Default: four for each processor."`
	Case      []string      `name:"case" placeholder:"NAMES" help:"Cases to run, separated by commas, such as repeat/*. Default: all."`
	List      bool          `name:"list" help:"Print the cases and end."`
	JSON      bool          `name:"json" help:"Print one JSON document."`
	HTML      string        `name:"html" placeholder:"FILE" help:"Also write a page with a timeline of each case."`
	Command   []string      `arg:"" optional:"" passthrough:"" help:"The server to drive, and its arguments, behind --. {url}, {token} and {state} in them are filled in."`

	environ []string // that the server gets
}

// Help is part of [kong.HelpProvider].
func (*labCommand) Help() string {
	return "Ctrl-C ends the servers too, with what they have started. What a server starts in a session of its own (setsid, a daemon) " +
		"is beyond the lab's reach: nobody waits for it, and it lives on."
}

// errFindings is a card that is not clean. It has its own exit code.
var errFindings = errors.New("the card is not clean")

// Run drives the server and prints the card.
func (l *labCommand) Run(ctx context.Context, std streams) error {
	if l.List {
		return l.list(std)
	}
	config, err := l.config()
	if err != nil {
		return usageError{err}
	}
	config.Done = func(done, of int, result lab.Result) {
		fmt.Fprintf(std.err, "%d/%d %s: %s\n", done, of, result.Name, came(result))
	}
	page, err := openPage(l.HTML)
	if err != nil {
		return err
	}
	report, err := lab.Run(ctx, config)
	if err != nil {
		page.discard()
	}
	if ctx.Err() != nil {
		return errors.New("the lab was interrupted before all cases were done")
	}
	if err != nil {
		return err
	}
	if err := errors.Join(page.write(report), l.print(report, std)); err != nil {
		return err
	}
	if report.Card.Findings() > 0 {
		return errFindings
	}
	return nil
}

func (l *labCommand) print(report *lab.Report, std streams) error {
	if l.JSON {
		return report.WriteJSON(std.out)
	}
	return report.WriteTable(std.out)
}

// config checks the flags. In a [lab.Config] 0 is the default; whoever types it means something else.
func (l *labCommand) config() (lab.Config, error) {
	config := lab.Config{Env: l.environ, CallLimit: l.CallLimit, Cases: l.Case}
	if l.CallLimit <= 0 {
		return config, errors.New("--call-limit takes a time above 0, such as 60s")
	}
	if l.Parallel != nil {
		if config.Parallel = *l.Parallel; config.Parallel < 1 {
			return config, errors.New("--parallel takes a number from 1")
		}
	}
	var err error
	if config.Command, err = l.command(); err != nil {
		return config, err
	}
	return config, config.Validate()
}

// command returns the command line of the server. The parser leaves the -- before it, and takes a flag that it does not know for
// the beginning of it.
func (l *labCommand) command() ([]string, error) {
	switch {
	case len(l.Command) == 0:
		return nil, nil
	case l.Command[0] == "--":
		return l.Command[1:], nil
	case strings.HasPrefix(l.Command[0], "-"):
		return nil, fmt.Errorf("unknown flag %s; the server and its own flags stand behind --", l.Command[0])
	}
	return l.Command, nil
}

func (l *labCommand) list(std streams) error {
	for _, each := range lab.Catalogue() {
		if _, err := fmt.Fprintf(std.out, "%s\n  %s\n  %s\n", each.Name, each.Breaks, each.Does); err != nil {
			return err
		}
	}
	return nil
}

// came says in a few words how a case came out.
func came(result lab.Result) string {
	switch found := result.Card().Findings(); {
	case result.Skipped != "":
		return "skipped, " + result.Skipped
	case found == 0:
		return "clean"
	case found == 1:
		return "1 finding"
	default:
		return fmt.Sprintf("%d findings", found)
	}
}
