package tracing

import (
	"context"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// Asked is asked.
var Asked = asked

// StartWith is Start with another way to deliver.
func StartWith(config Config, exporter sdktrace.SpanExporter) *Tracing {
	return start(context.Background(), config.withDefaults(), exporter)
}

// Batching is batching, for tests.
var Batching = batching
