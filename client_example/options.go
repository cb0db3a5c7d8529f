package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/kitebase/kitebase-mcp/client_example/agent"
)

// options are what the command line says.
type options struct {
	scenarios           []scenario
	server              string
	mcpURL              string
	model, ticket       string // of -live
	journal, resume     string // paths
	list, verbose, json bool
	live                bool

	wrap       func(journalFile) journalFile // of the journal; tests let the process die in it
	experiment experiment
}

// experiment changes the limits of all scenarios that are run. The zero value changes nothing.
type experiment struct {
	attempts int // of the server
	deadline time.Duration
	maxSteps int
}

func (e experiment) apply(limits agent.Config) agent.Config {
	limits.Deadline = cmp.Or(e.deadline, limits.Deadline)
	limits.MaxSteps = cmp.Or(e.maxSteps, limits.MaxSteps)
	return limits
}

func (e experiment) validate() error {
	for _, wrong := range []struct {
		bad  bool
		text string
	}{
		{e.attempts < 0, "-attempts takes a number from 1"},
		{e.deadline < 0, "-deadline takes a time above 0, such as 0.8s"},
		{e.maxSteps < 0, "-max-steps takes a number from 1"},
	} {
		if wrong.bad {
			return usageError(wrong.text)
		}
	}
	return nil
}

func parseArguments(args []string, stderr io.Writer) (options, error) {
	var o options
	flags := newFlagSet(&o, stderr)
	// The flag package stops at the first name; flags behind it count as well.
	for rest := args; ; rest = flags.Args()[1:] {
		if err := flags.Parse(rest); errors.Is(err, flag.ErrHelp) {
			return o, err
		} else if err != nil {
			return o, usageError("see client_example -h")
		}
		if flags.NArg() == 0 {
			break
		}
		s, ok := findScenario(flags.Arg(0))
		if !ok {
			return o, usageError(fmt.Sprintf("unknown scenario %q; the scenarios are:\n\n%s", flags.Arg(0), strings.TrimRight(listing(), "\n")))
		}
		o.scenarios = append(o.scenarios, s)
	}
	return o, errors.Join(o.experiment.validate(), o.validateLive())
}

func newFlagSet(o *options, stderr io.Writer) *flag.FlagSet {
	flags := flag.NewFlagSet("client_example", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprintf(stderr, "usage: client_example [flags] [scenario ...]\n\nWithout a scenario it runs all.\n\n%s\n", listing())
		flags.PrintDefaults()
	}
	flags.StringVar(&o.server, "server", "", "`path` of the kitebase-mcp binary (default: built from source, else beside this program, else on PATH); or a command with arguments that starts another MCP server")
	flags.StringVar(&o.mcpURL, "mcp-url", "", "`address` of a running MCP server with streamable HTTP, to work with in place of -server; MCP_TOKEN in the environment is its bearer token")
	flags.BoolVar(&o.live, "live", false, "let Claude decide in place of the script (needs ANTHROPIC_API_KEY, and costs money)")
	flags.StringVar(&o.model, "model", defaultModel, "`name` of the model for -live")
	flags.StringVar(&o.ticket, "ticket", ticketID, "`id` of the ticket for -live")
	flags.StringVar(&o.journal, "journal", "", "keep the run in this new `file`, step by step")
	flags.StringVar(&o.resume, "resume", "", "go on with the run in this `file`; all other flags must be those that it began with")
	flags.BoolVar(&o.list, "list", false, "list the scenarios")
	flags.BoolVar(&o.verbose, "v", false, "show the waits and attempts of the server, and on stderr the rest of its log")
	flags.BoolVar(&o.json, "json", false, "print only the report, as one JSON document; of several scenarios a list of them")
	flags.IntVar(&o.experiment.attempts, "attempts", 0, "`times` that the server tries a call that is safe to repeat (default: the server's, 2)")
	flags.DurationVar(&o.experiment.deadline, "deadline", 0, "`time` of a whole run (default: the scenario's, mostly 30s)")
	flags.IntVar(&o.experiment.maxSteps, "max-steps", 0, "`turns` that the model may take (default: 8)")
	return flags
}
