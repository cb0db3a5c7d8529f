package tracing

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/kitebase/kitebase-mcp/server/resilience"
)

// call is what the spans of one call share. It is used by one goroutine at a time.
type call struct {
	span     trace.Span
	attempts int
	failed   string // the kind by which the last attempt failed
}

type callKey struct{}

// Call returns next inside the span of the call. It is to stand outside the guard.
func (t *Tracing) Call(next mcpserver.ToolHandlerFunc) mcpserver.ToolHandlerFunc {
	if t == nil {
		return next
	}
	return func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		ctx, links := parent(ctx, request)
		ctx, span := t.tracer.Start(ctx, "tools/call "+request.Params.Name,
			trace.WithSpanKind(trace.SpanKindServer), trace.WithLinks(links...), trace.WithAttributes(
				attribute.String("mcp.method.name", "tools/call"),
				attribute.String("gen_ai.operation.name", "execute_tool"),
				attribute.String("gen_ai.tool.name", request.Params.Name),
			))
		defer span.End()
		return next(context.WithValue(ctx, callKey{}, &call{span: span}), request)
	}
}

// parent returns ctx with the span that the caller named, in _meta if it is there (SEP-414), else in the HTTP header. Where
// both name one, that of the HTTP request is another thing than that of the message, and becomes a link. What is no
// traceparent counts as none.
func parent(ctx context.Context, request mcp.CallToolRequest) (context.Context, []trace.Link) {
	var propagator propagation.TraceContext
	carried := propagator.Extract(ctx, propagation.HeaderCarrier(request.Header))
	if request.Params.Meta == nil {
		return carried, nil
	}
	told := propagator.Extract(ctx, meta(request.Params.Meta.AdditionalFields))
	if !trace.SpanContextFromContext(told).IsValid() {
		return carried, nil
	}
	if around := trace.SpanContextFromContext(carried); around.IsValid() {
		return told, []trace.Link{{SpanContext: around}}
	}
	return told, nil
}

// meta reads the _meta of a request as a [propagation.TextMapCarrier].
type meta map[string]any

// Get is part of [propagation.TextMapCarrier].
func (m meta) Get(key string) string {
	value, _ := m[key].(string)
	return value
}

// Set is part of [propagation.TextMapCarrier]; nothing is sent in a request's _meta.
func (meta) Set(string, string) {}

// Keys is part of [propagation.TextMapCarrier].
func (meta) Keys() []string { return nil }

// Observe puts how the call ended into its span. It is the Observe of the [resilience.Policy].
func (t *Tracing) Observe(ctx context.Context, seen resilience.Observation) {
	if t == nil {
		return
	}
	c, ok := ctx.Value(callKey{}).(*call)
	if !ok || !c.span.IsRecording() {
		return
	}
	attrs := make([]attribute.KeyValue, 0, 8)
	attrs = append(attrs,
		attribute.String("kitebase.call_id", seen.CallID),
		attribute.String("kitebase.outcome", seen.Outcome.String()),
		attribute.Int("kitebase.attempts", seen.Attempts),
		attribute.Bool("kitebase.replayed", seen.Replayed),
	)
	if seen.ServedBy != "" {
		attrs = append(attrs, attribute.String("kitebase.served_by", seen.ServedBy))
	}
	if seen.Kind != "" {
		attrs = append(attrs, attribute.String("kitebase.kind", string(seen.Kind)), attribute.String("error.type", "tool_error"))
		c.span.SetStatus(codes.Error, string(seen.Kind))
	}
	c.span.SetAttributes(attrs...)
}
