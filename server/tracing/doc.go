// Package tracing tells an OpenTelemetry collector what became of each call: one span for the call, one for each attempt at
// the upstream.
//
//	tools/call reply_to_customer     SERVER   child of the traceparent in the request's _meta, else in its HTTP header
//	├─ kitebase reply_to_customer    CLIENT   attempt 1, error.type=unavailable
//	├─ kitebase reply_to_customer    CLIENT   attempt 2; its traceparent is in the request to Kitebase
//	└─ settle reply_to_customer      CLIENT   the look whether the reply was sent
//
// A look in the background, after the call was answered, is a trace of its own with a link to the call.
//
//	traces := tracing.Start(tracing.Config{Logger: log})
//	defer traces.Close()
//	handler = traces.Call(guard(traces.Attempt(handler)))
//
// It is configured by the environment alone, as the OpenTelemetry specification names it (OTEL_EXPORTER_OTLP_ENDPOINT and so
// on), and is off unless an endpoint or OTEL_TRACES_EXPORTER=otlp is set. Off is a nil [Tracing]: its middleware is the
// handler itself.
//
// Names and attributes follow the semantic conventions for MCP as far as they exist (status: development); what is ours
// begins with kitebase. No span holds an argument, a text, an address or a session id, which on HTTP is as good as a key.
//
// It never fails a call, delays an answer or stops a start: what cannot be delivered is lost, and that is logged.
package tracing
