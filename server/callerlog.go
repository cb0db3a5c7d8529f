package server

import (
	"context"
	"log/slog"

	"github.com/kitebase/kitebase-mcp/server/access"
)

// callerLog adds to each record who called, as far as its context knows it.
type callerLog struct{ slog.Handler }

// Handle is part of [slog.Handler].
func (c callerLog) Handle(ctx context.Context, record slog.Record) error {
	if caller, ok := access.From(ctx); ok {
		record.AddAttrs(slog.String("who", who(caller)))
	}
	return c.Handler.Handle(ctx, record)
}

// WithAttrs is part of [slog.Handler].
func (c callerLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return callerLog{c.Handler.WithAttrs(attrs)}
}

// WithGroup is part of [slog.Handler].
func (c callerLog) WithGroup(name string) slog.Handler { return callerLog{c.Handler.WithGroup(name)} }
