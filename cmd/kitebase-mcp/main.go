// Command kitebase-mcp is an MCP server that lets a model work in the help desk Kitebase.
//
// It reads flags and environment and handles signals; everything else is in package server. Nothing but JSON-RPC ever
// goes to its standard output while it serves.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
)

// streams are the standard streams of a command.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// gcPercent makes garbage collections rarer than Go's 100 does. Little of the heap lives, a few MiB, so that under load a
// collection came after every few hundred calls, and together they took an eighth of the CPU time. GOGC overrides it.
const gcPercent = 400

func main() {
	// A host sends SIGINT, then SIGTERM, then kills. The first begins the end; NotifyContext stays registered, so that a
	// second one does not cut it short.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	signal.Ignore(syscall.SIGPIPE) // a client that is gone must not kill a reply under way
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	err := run(ctx, os.Args[1:], os.Environ(), streams{os.Stdin, os.Stdout, os.Stderr})
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "kitebase-mcp: "+err.Error())
	}
	os.Exit(exitCode(err))
}

// usageError is a wrong command line or environment.
type usageError struct{ error }

func (u usageError) Unwrap() error { return u.error }

func exitCode(err error) int {
	var usage usageError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &usage):
		return 2
	case errors.Is(err, errFindings):
		return 3
	default:
		return 1
	}
}

// run carries out one command line. environ is a list of NAME=value.
func run(ctx context.Context, args, environ []string, std streams) error {
	return parse(args, environ, std, func(c command) error { return c.Run(ctx, std) })
}
