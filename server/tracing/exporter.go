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

	"github.com/kitebase/kitebase-mcp/server/tracing/otlp"
)

// exporter delivers spans and says in the log what was lost: once, and then at most every ten minutes how many. The errors
// are kept from the SDK, which would log them, since they may repeat the address of the collector.
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

func newExporter(delivery sdktrace.SpanExporter, log *slog.Logger) *exporter {
	e := &exporter{SpanExporter: delivery, log: log}
	e.ended, e.giveUp = context.WithCancel(context.Background())
	return e
}

// ExportSpans is part of [sdktrace.SpanExporter]. It always returns nil.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(e.ended, cancel)()
	err := e.SpanExporter.ExportSpans(ctx, spans)
	if err != nil {
		err = errors.Join(ctx.Err(), err) // the SDK's limit has a cause of its own, which says nothing to net/http
	}
	e.tell(err, len(spans))
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
	e.lost += lost(err, spans)
	if !e.told.IsZero() && time.Since(e.told) < toldEvery {
		return
	}
	e.log.Warn("traces cannot be delivered", "cause", why(err), "spans_lost", e.lost)
	e.told, e.failing, e.lost = time.Now(), true, 0
}

// lost is how many of the spans were not taken.
func lost(err error, spans int) int {
	if some := otlp.Rejected(0); errors.As(err, &some) {
		return int(min(int64(some), int64(spans)))
	}
	return spans
}

// why puts an error into words of ours.
func why(err error) string {
	var timeout interface{ Timeout() bool }
	var connection *net.OpError
	var certificate *tls.CertificateVerificationError
	var some otlp.Rejected
	switch {
	case errors.Is(err, context.Canceled):
		return "the server ended before the collector answered"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return "no answer from the collector in time"
	case errors.As(err, &certificate):
		return "no secure connection to the collector"
	case errors.As(err, &connection):
		return "no connection to the collector"
	case errors.As(err, &some):
		return "the collector rejected some of them"
	default:
		return "the collector did not take them: check its address, path and headers"
	}
}
