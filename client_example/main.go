// Command client_example is a small agent that handles one ticket through the kitebase-mcp server, and the place to copy
// one from. A scripted model stands in for a language model, so that each run is the same and costs nothing; with -live it is
// Claude.
//
//	client_example ── agent.Run ─┬─ script, or claude: the model
//	      │                      └─ session: tools over MCP ══ stdio ══ kitebase-mcp (child process)
//	      └─ fakeapi: a help desk on loopback ◄══════════════ HTTP ══════════╯
//
// Each scenario breaks something else, and says how the run must end all the same:
//
//	go run ./client_example            runs all and ends with a table
//	go run ./client_example duplicate  runs one
//	go run ./client_example -list      says what there is
//	go run ./client_example -live      lets Claude handle the ticket
//
// With -attempts, -deadline or -max-steps a run is an experiment, and may end in any way. Emails are counted at the help
// desk, never believed from the server; with -mcp-url, or -server with arguments, the help desk is another one, and nobody
// counts. There a run can be kept with -journal and taken up with -resume.
//
// The exit code of one scenario is 0 if the model finished and 3 if the run was handed over to a person; of several it is
// 0 if each ended as listed. It is 1 for a scenario that could not be run or did not end as listed, and 2 for a command
// line that makes no sense. (go run makes each of them 1.)
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr)
	stop()
	if err != nil && !errors.Is(err, errHandedOver) {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(exitCode(err))
}

// usageError is an error in the command line.
type usageError string

func (e usageError) Error() string { return string(e) }

func exitCode(err error) int {
	var usage usageError
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errHandedOver):
		return 3
	case errors.As(err, &usage):
		return 2
	default:
		return 1
	}
}

// run is the whole program. Nothing is read from stdin: it is there so that all programs look the same.
func run(ctx context.Context, args, env []string, _ io.Reader, stdout, stderr io.Writer) error {
	options, err := parseArguments(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return nil
	case err != nil:
		return err
	case options.list:
		_, err := io.WriteString(stdout, listing())
		return err
	}
	return options.run(ctx, env, stdout, stderr)
}

// run runs the scenarios.
func (o options) run(ctx context.Context, env []string, stdout, stderr io.Writer) error {
	d, err := o.driver(newScreen(stdout, env), env, stderr)
	if err != nil {
		return err
	}
	if d.journal, err = o.openJournal(d.abroad); err != nil {
		return err
	}
	defer d.journal.Close()
	if d.journal.ended() {
		return d.journal.tellLate(stdout, o.json)
	}
	if d.abroad == nil {
		server, remove, err := findServer(ctx, o.server, env, stderr)
		if err != nil {
			return err
		}
		defer remove()
		d.server = server
	}
	outcomes, err := d.driveAll(ctx, o.scenariosFor(d))
	if err == nil && o.json {
		err = writeDocument(stdout, outcomes)
	}
	if err == nil {
		err = d.journal.tell()
	}
	if err != nil {
		return err
	}
	return d.judge(outcomes)
}
