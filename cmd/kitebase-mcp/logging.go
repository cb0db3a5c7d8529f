package main

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"os/user"

	"github.com/mattn/go-isatty"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/server/audit"
)

// logging are the settings of what is written about what was done.
type logging struct {
	LogFormat string `name:"log-format" default:"auto" enum:"auto,text,json" help:"auto, text or json; auto is text on a terminal and JSON everywhere else."`
	AuditLog  string `name:"audit-log" placeholder:"FILE" help:"File that gets a JSON line for each write, whatever the log level. Default: the log."`
}

// format returns what makes handlers for a log that ends up at stderr.
func (l logging) format(stderr io.Writer, level slog.Level) func(io.Writer) slog.Handler {
	options := &slog.HandlerOptions{Level: level}
	if l.LogFormat == "text" || l.LogFormat == "auto" && isTerminal(stderr) {
		return func(w io.Writer) slog.Handler { return slog.NewTextHandler(w, options) }
	}
	return func(w io.Writer) slog.Handler { return slog.NewJSONHandler(w, options) }
}

func isTerminal(w io.Writer) bool {
	file, ok := w.(interface{ Fd() uintptr })
	return ok && (isatty.IsTerminal(file.Fd()) || isatty.IsCygwinTerminal(file.Fd()))
}

// gap makes the line that tells of lines that were dropped, in the format of the others.
func gap(format func(io.Writer) slog.Handler) func(int) []byte {
	return func(dropped int) []byte {
		var line bytes.Buffer
		slog.New(format(&line)).Error("log lines were dropped: stderr was not read", "dropped", dropped)
		return line.Bytes()
	}
}

// audit opens the file for audit lines, or has them written to log. What it returns beside the lines is to be closed.
func (l logging) audit(log *slog.Logger) (*audit.Log, io.Closer, error) {
	if l.AuditLog == "" {
		return audit.New(log.Handler(), nil), io.NopCloser(nil), nil
	}
	file, err := audit.OpenFile(l.AuditLog)
	if err != nil {
		return nil, nil, usageError{fmt.Errorf("--audit-log (%s) takes a file that can be written: %w", envName("audit-log"), err)}
	}
	return audit.New(file.Handler(), log.Handler()), file, nil
}

// trail is audit for a command, whose log is stderr.
func (l logging) trail(stderr io.Writer) (*audit.Log, io.Closer, error) {
	return l.audit(slog.New(l.format(stderr, slog.LevelInfo)(stderr)))
}

// operator is who does it for audit lines, if it is done by a command: the person whose shell it is.
func operator() string {
	if person, err := user.Current(); err == nil {
		return "command line (" + person.Username + ")"
	}
	return "command line"
}

// outcomeOf says in a word of the audit lines how the call of a record had ended.
func outcomeOf(record idempotency.Record) string {
	switch record.State {
	case idempotency.Finished, idempotency.Settled:
		return idempotency.Done.String()
	case idempotency.Held, idempotency.Abandoned:
		return idempotency.NotDone.String()
	default:
		return idempotency.Unknown.String()
	}
}
