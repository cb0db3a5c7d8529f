package tracing

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"sync"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// exporter delivers spans and says in the log what was lost: once, and then at most every ten minutes how many. The errors
// of the SDK are kept from its log, since they repeat the address of the collector and what it answered.
type exporter struct {
	sdktrace.SpanExporter
	log    *slog.Logger
	ended  context.Context
	giveUp context.CancelFunc // ends what is under way

	mu      sync.Mutex
	lost    int // spans since the last time it was told
	told    time.Time
	failing bool // it was told, and nothing was delivered since
}

// toldEvery is how often it is told at the most that nothing can be delivered.
const toldEvery = 10 * time.Minute

func newExporter(otlp sdktrace.SpanExporter, log *slog.Logger) *exporter {
	e := &exporter{SpanExporter: otlp, log: log}
	e.ended, e.giveUp = context.WithCancel(context.Background())
	return e
}

// ExportSpans is part of [sdktrace.SpanExporter]. It always returns nil.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(e.ended, cancel)()
	e.tell(e.SpanExporter.ExportSpans(ctx, spans), len(spans))
	return nil
}

func (e *exporter) tell(err error, spans int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err == nil {
		if e.failing {
			e.failing = false
			e.log.Info("traces are delivered again", "spans_lost", e.lost)
			e.lost = 0
		}
		return
	}
	e.lost += spans
	if !e.told.IsZero() && time.Since(e.told) < toldEvery {
		return
	}
	e.log.Warn("traces cannot be delivered", "cause", why(err), "spans_lost", e.lost)
	e.told, e.failing, e.lost = time.Now(), true, 0
}

// why puts an error into words of ours.
func why(err error) string {
	var timeout interface{ Timeout() bool }
	var connection *net.OpError
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.Is(err, context.Canceled):
		return "the server ended before the collector answered"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return "no answer from the collector in time"
	case errors.As(err, &certificate):
		return "no secure connection to the collector"
	case errors.As(err, &connection):
		return "no connection to the collector"
	default:
		return "the collector did not take them: check its address, path and headers"
	}
}
