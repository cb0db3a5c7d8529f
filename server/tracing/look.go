package tracing

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/kitebase/kitebase-mcp/server/resilience"
)

// Look begins the span of a look at the upstream that is to settle what became of a call of tool; ended ends it with what
// was found. Within a call it is a child of the call's span. When the call is over, it is a trace of its own, with a link:
// a trace that grows after its end would never be read again.
func (t *Tracing) Look(ctx context.Context, tool string) (look context.Context, ended func(outcome string)) {
	if t == nil {
		return ctx, func(string) {}
	}
	options := []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindClient)}
	of := trace.SpanFromContext(ctx)
	if over := of.SpanContext(); over.IsSampled() && !of.IsRecording() {
		options = append(options, trace.WithNewRoot(), trace.WithLinks(trace.Link{SpanContext: over}))
	}
	ctx, span := t.tracer.Start(ctx, "settle "+tool, options...)
	if id := resilience.CallID(ctx); id != "" {
		span.SetAttributes(attribute.String("kitebase.call_id", id))
	}
	return ctx, func(outcome string) {
		span.SetAttributes(attribute.String("kitebase.outcome", outcome))
		span.End()
	}
}
