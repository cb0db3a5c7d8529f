package resilience

import (
	"context"
	"log/slog"
	"time"
)

// record logs the end of a call, once for each call, with what an operator asks first: which call, what became of it, how
// often it was tried, and where the time went. It holds no argument and no text; cause is for failures, in words of ours.
func (e *explainer) record(ctx context.Context, seen *Observation, cause error) {
	at, message := level(seen.Kind), "call"
	if !e.log.Enabled(ctx, at) {
		return
	}
	attrs := make([]slog.Attr, 0, 12)
	attrs = append(attrs, slog.String("call", seen.CallID), slog.String("tool", seen.Tool),
		slog.String("outcome", seen.Outcome.String()), slog.Int("attempts", seen.Attempts))
	for _, given := range []struct{ name, value string }{
		{"kind", string(seen.Kind)}, {"repeated_by", seen.RepeatedBy}, {"served_by", seen.ServedBy}, {"key", seen.Key},
	} {
		if given.value != "" {
			attrs = append(attrs, slog.String(given.name, given.value))
		}
	}
	if seen.Replayed {
		attrs = append(attrs, slog.Bool("replayed", true))
	}
	attrs = append(attrs, ms("took_ms", seen.Took), ms("queued_ms", seen.Queued), ms("trying_ms", seen.Trying))
	if seen.Kind != "" {
		message = "call failed"
		attrs = append(attrs, slog.Any("cause", cause))
	}
	e.log.LogAttrs(ctx, at, message, attrs...)
}

// endKind is the kind of err as a word, "" for none.
func endKind(err error) string {
	if err == nil {
		return ""
	}
	return string(kindOf(err))
}

// ms is a time as a number of milliseconds, so that it is the same in text and in JSON, where slog writes nanoseconds.
func ms(name string, d time.Duration) slog.Attr {
	return slog.Float64(name, float64(d.Round(time.Microsecond))/float64(time.Millisecond))
}

// level says who is to look at a call: everybody who watches, or somebody who minds the server. What the caller did wrong is
// no more than what it did right.
func level(kind Kind) slog.Level {
	switch kind {
	case Internal:
		return slog.LevelError
	case "", Invalid, NotFound, Canceled:
		return slog.LevelInfo
	default:
		return slog.LevelWarn
	}
}

// notWritten logs that the ledger could not be written during a call, or in work that it left behind.
func notWritten(ctx context.Context, cause error) {
	c := callFrom(ctx)
	c.log.LogAttrs(ctx, slog.LevelError, "the ledger could not be written",
		slog.String("call", c.id), slog.Any("cause", cause))
}
