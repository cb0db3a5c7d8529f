// Command bench compares kitebase-mcp with other MCP servers for Kitebase, each as the process that a host would start, within
// one run on one machine:
//
//	go run -C bench .                    # about four minutes; the table of docs/performance.md
//	go run -C bench . -json              # every single measurement
//	go run -C bench . -short             # a few seconds, to see that it works
//	go run -C bench . -only http         # or stdio
//	go run -C bench . -perf DIR          # also a profile of each server under load, by perf; DIR is seen from bench
//
// Nothing is shared between the servers but a fake Kitebase, which is a process too. A round starts all of them; then each
// figure is taken at one server after the other, so that whatever else the machine does meets all alike. Every other round
// goes through them backwards. No measurement is left out. Ratios are taken within a round, to bare mcp-go; what is
// shown is the median of the rounds, and the lowest and the highest behind it.
//
// It needs Go, and for the TypeScript SDK node and npm. CPU and memory are read from /proc, so that they are measured on Linux
// only.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the next signal ends it at once
	switch err := run(ctx); {
	case err == nil:
	case interrupted(ctx):
		fmt.Fprintln(os.Stderr, "bench: interrupted")
		os.Exit(exitInterrupted)
	default:
		fmt.Fprintln(os.Stderr, "bench: "+err.Error())
		os.Exit(1)
	}
}

// settings are the flags.
type settings struct {
	rounds int
	slice  time.Duration // of one figure at one server
	idle   time.Duration // before memory counts as idle: a server may still be at its first tasks
	starts int           // of each server in a round
	only   string        // a transport; "" for both
	perf   string
	short  bool
}

func run(ctx context.Context) error {
	var s settings
	flag.IntVar(&s.rounds, "rounds", 10, "rounds")
	flag.DurationVar(&s.slice, "slice", time.Second, "how long a server is measured for one figure in one round")
	flag.DurationVar(&s.idle, "idle", 2*time.Second, "how long a server is left alone before its idle memory is read")
	flag.IntVar(&s.starts, "starts", 5, "how often each server is started in a round")
	flag.StringVar(&s.only, "only", "", "stdio or http, to compare just there")
	flag.StringVar(&s.perf, "perf", "", "directory, made if it is not there, for a profile of each server under load, recorded by perf after the last round")
	asJSON := flag.Bool("json", false, "print every measurement as JSON")
	flag.BoolVar(&s.short, "short", false, "one short round, which shows that everything works and measures nothing")
	flag.Parse()
	if flag.NArg() > 0 || s.rounds < 1 || s.slice <= 0 || s.idle < 0 || s.starts < 1 {
		return errors.New("-rounds and -starts take a number from 1, -slice a time above 0; nothing else is taken")
	}
	if s.only != "" && s.only != "stdio" && s.only != "http" {
		return errors.New("-only takes stdio or http")
	}
	if s.short {
		s.rounds, s.slice, s.idle, s.starts = 1, 200*time.Millisecond, 0, 1
	}
	if _, err := os.Stat("unguarded"); err != nil {
		return errors.New("run this in the module bench: go run -C bench .")
	}
	if s.perf != "" {
		if err := tryPerf(s.perf); err != nil {
			return err
		}
	}
	report, err := compare(ctx, s)
	if err != nil {
		return err
	}
	write := report.writeTable
	if *asJSON {
		write = report.writeJSON
	}
	return errors.Join(write(os.Stdout), report.unprofiled)
}
