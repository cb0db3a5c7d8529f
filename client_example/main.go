// Command client_example is a small agent that handles one ticket through the kitebase-mcp server, and the place to copy
// one from. A scripted model stands in for a language model, so that each run is the same and costs nothing.
//
//	client_example ── agent.Run ─┬─ script: the model
//	      │                      └─ session: tools over MCP ══ stdio ══ kitebase-mcp (child process)
//	      └─ fakeapi: a help desk on loopback ◄══════════════ HTTP ══════════╯
//
// Each scenario breaks something else, and says how the run must end all the same:
//
//	go run ./client_example            runs all and ends with a table
//	go run ./client_example duplicate  runs one
//	go run ./client_example -list      says what there is
//
// Emails are counted at the help desk, never believed from the server. The exit code is 0 if each scenario ended as
// listed, 1 if not, and 2 for a command line that makes no sense.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr)
	stop()
	if err != nil {
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
	server, remove, err := findServer(ctx, options.server, env, stderr)
	if err != nil {
		return err
	}
	defer remove()

	d := driver{server: server, stdout: stdout, serverLog: io.Discard}
	if options.verbose {
		d.serverLog = &indenter{out: stderr}
	}
	return d.driveAll(ctx, options.scenarios)
}

type options struct {
	scenarios     []scenario
	server        string
	list, verbose bool
}

func parseArguments(args []string, stderr io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("client_example", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprintf(stderr, "usage: client_example [flags] [scenario ...]\n\nWithout a scenario it runs all.\n\n%s\n", listing())
		flags.PrintDefaults()
	}
	flags.StringVar(&o.server, "server", "", "`path` of the kitebase-mcp binary (default: built from source, else beside this program, else on PATH)")
	flags.BoolVar(&o.list, "list", false, "list the scenarios")
	flags.BoolVar(&o.verbose, "v", false, "show the server's log on stderr")

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
	if len(o.scenarios) == 0 {
		o.scenarios = scenarios()
	}
	return o, nil
}
