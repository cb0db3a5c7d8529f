// Package audit writes down who changed what: one line for each write, whatever the level of the log.
//
//	trail := audit.New(handler, nil)
//	trail.Write(ctx, audit.Entry{Event: audit.Call, Who: "local", Tool: "assign_ticket", Ticket: "KITE-142", Outcome: "done"})
//
//	time=… level=INFO msg=audit event=call who=local tool=assign_ticket ticket=KITE-142 outcome=done attempts=0
//
// A line goes to any [slog.Handler]: that of the log, or one on a [File]. It holds no message and nothing that a customer
// wrote. It is written before the caller gets its answer, so that who was told that a reply was sent finds its line.
//
// It is no ledger: a process that is killed in the middle of a write leaves no line of it. What it left open in the ledger
// is settled later, and that is a line.
package audit

import (
	"context"
	"log/slog"
	"strings"
	"time"
	"unicode"
)

// The events that are written down.
const (
	// Call is the end of a call of a tool that changes something, as the caller was told it.
	Call = "call"
	// Settled says what became of a call that had ended as unknown.
	Settled = "settled"
	// Forgotten is the removal of a record from the ledger by hand.
	Forgotten = "forgotten"
)

// Entry is one line. Fields that are "" are left out.
type Entry struct {
	// Event is one of the constants above.
	Event string
	// Call is the id of the call, as in the log.
	Call string
	// Who did it: the name of the caller, as far as the server knows it.
	Who string
	// Tool and Ticket are what was called, and on what.
	Tool, Ticket string
	// Outcome is done, replayed (an earlier call had done it), not_done or unknown.
	Outcome string
	// Kind is why the call failed.
	Kind string
	// Key is the idempotency key.
	Key string
	// ReplyID is Kitebase's id of the reply, Assignee that of the agent.
	ReplyID, Assignee string
	// Attempts counts the requests for it. In an event other than Call 0 stands for not known, and is left out.
	Attempts int
}

// Log writes entries. A nil Log writes nothing. It is safe for concurrent use if its handler is.
type Log struct {
	handler slog.Handler
	instead slog.Handler
}

// New returns a log on handler, whose level is not asked. instead gets the lines that could not be written, as errors with the
// cause, so that they are not lost; nil for nobody.
func New(handler, instead slog.Handler) *Log { return &Log{handler: handler, instead: instead} }

// Write writes one line.
func (l *Log) Write(ctx context.Context, e Entry) {
	if l == nil {
		return
	}
	record := slog.NewRecord(time.Now(), slog.LevelInfo, "audit", 0)
	for _, field := range []struct{ name, value string }{
		{"event", e.Event}, {"call", e.Call}, {"who", e.Who}, {"tool", e.Tool}, {"ticket", e.Ticket}, {"outcome", e.Outcome},
		{"kind", e.Kind}, {"key", e.Key}, {"reply_id", e.ReplyID}, {"assignee", e.Assignee},
	} {
		if field.value != "" {
			record.AddAttrs(slog.String(field.name, Clean(field.value)))
		}
	}
	if e.Event == Call || e.Attempts > 0 { // of a call whose process died nobody knows them
		record.AddAttrs(slog.Int("attempts", e.Attempts))
	}
	err := l.handler.Handle(ctx, record)
	if err == nil || l.instead == nil {
		return
	}
	lost := record.Clone()
	lost.Level, lost.Message = slog.LevelError, "an audit line could not be written"
	lost.AddAttrs(slog.Any("cause", err))
	_ = l.instead.Handle(ctx, lost) // there is nowhere else to tell it
}

// longest is how much of one field is written, in characters.
const longest = 100

// Clean returns text as it may stand in a line that people read: without control characters and what cannot be seen, and
// not at length.
func Clean(text string) string {
	n := 0
	return strings.Map(func(r rune) rune {
		if n++; n > longest || !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, text)
}
