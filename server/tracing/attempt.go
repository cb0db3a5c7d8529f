package tracing

import (
	"context"
	"errors"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Attempt returns next inside a span of its own for each run. It is to stand inside the guard, right around the handler.
//
// A run that the handler refuses, before anything goes out, is no attempt and leaves no span.
func (t *Tracing) Attempt(next mcpserver.ToolHandlerFunc) mcpserver.ToolHandlerFunc {
	if t == nil {
		return next
	}
	return func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		c, ok := ctx.Value(callKey{}).(*call)
		if !ok {
			return next(ctx, request)
		}
		ctx, span := t.tracer.Start(ctx, "kitebase "+request.Params.Name,
			trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(c.numbered()...))
		returned := false
		defer func() {
			if !returned {
				fail(span, "internal")
				span.End()
			}
		}()
		result, err := next(ctx, request)
		returned = true
		if refused(err) {
			c.attempts--
			return result, err // a span that is not ended is not delivered
		}
		c.judge(span, err)
		span.End()
		return result, err
	}
}

// numbered counts an attempt and says of it what is known at its beginning.
func (c *call) numbered() []attribute.KeyValue {
	c.attempts++
	attrs := []attribute.KeyValue{attribute.Int("kitebase.attempt", c.attempts)}
	if c.attempts > 1 {
		attrs = append(attrs, attribute.Int("http.request.resend_count", c.attempts-1), attribute.String("kitebase.retried_after", c.failed))
	}
	return attrs
}

// judge says how an attempt ended. The errors are asked by method, as the guard does.
func (c *call) judge(span trace.Span, err error) {
	c.failed = ""
	if err == nil {
		return
	}
	c.failed = "internal"
	var told interface{ Kind() string }
	if errors.As(err, &told) {
		c.failed = told.Kind()
	}
	fail(span, c.failed)
	var answered interface{ StatusCode() int }
	if errors.As(err, &answered) && answered.StatusCode() > 0 {
		span.SetAttributes(attribute.Int("http.response.status_code", answered.StatusCode()))
	}
}

func fail(span trace.Span, kind string) {
	span.SetAttributes(attribute.String("error.type", kind))
	span.SetStatus(codes.Error, kind)
}

func refused(err error) bool {
	var told interface{ Refused() bool }
	return errors.As(err, &told) && told.Refused()
}

// Headers returns the function that names the span of a request to the upstream in its headers, nil if there are no spans.
func (t *Tracing) Headers() func(context.Context, http.Header) {
	if t == nil {
		return nil
	}
	return func(ctx context.Context, header http.Header) {
		propagation.TraceContext{}.Inject(ctx, propagation.HeaderCarrier(header))
	}
}
