package otlp_test

import (
	"cmp"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/kitebase/kitebase-mcp/server/tracing/otlp"
)

// received is a request as a collector got it, and its body as it was before compression.
type received struct {
	method, uri string
	protocol    string // HTTP/1.1 or HTTP/2.0
	header      http.Header
	body        []byte
}

// receiver is a collector that takes everything, unless it is told to answer otherwise.
type receiver struct {
	*httptest.Server
	answer http.HandlerFunc // nil: 200

	mu  sync.Mutex
	got []received
}

func startReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

// ServeHTTP is part of [http.Handler].
func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body := request.Body
	if request.Header.Get("Content-Encoding") == "gzip" {
		unzipped, err := gzip.NewReader(body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		body = unzipped
	}
	read, err := io.ReadAll(body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	r.got = append(r.got, received{request.Method, request.RequestURI, request.Proto, request.Header.Clone(), read})
	answer := r.answer
	r.mu.Unlock()
	if answer != nil {
		answer(w, request)
	}
}

// take returns what came since the last time.
func (r *receiver) take() []received {
	r.mu.Lock()
	defer r.mu.Unlock()
	got := r.got
	r.got = nil
	return got
}

// official is the exporter of the OpenTelemetry project, with the settings of the environment. Its error is of no interest to
// those who look at what was received.
func official(t *testing.T, ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	t.Helper()
	exporter, err := otlptracehttp.New(ctx)
	require.NoError(t, err)
	defer func() { require.NoError(t, exporter.Shutdown(context.WithoutCancel(ctx))) }()
	return exporter.ExportSpans(ctx, spans)
}

// ours is the exporter of this package, with the settings of the environment. It returns the warnings, too.
func ours(t *testing.T, ctx context.Context, spans []sdktrace.ReadOnlySpan) (warnings []string, err error) {
	t.Helper()
	settings, err := otlp.FromEnvironment(os.Getenv, func(warning string) { warnings = append(warnings, warning) })
	require.NoError(t, err)
	exporter := otlp.New(settings)
	defer func() { require.NoError(t, exporter.Shutdown(ctx)) }()
	return warnings, exporter.ExportSpans(ctx, spans)
}

// decode reads a request by the official package, with the resources in an order of ours: theirs is that of a map.
func decode(t *testing.T, body []byte) *collector.ExportTraceServiceRequest {
	t.Helper()
	var request collector.ExportTraceServiceRequest
	require.NoError(t, proto.Unmarshal(body, &request))
	keys := make(map[any]string)
	for _, spans := range request.ResourceSpans {
		key, err := proto.MarshalOptions{Deterministic: true}.Marshal(spans)
		require.NoError(t, err)
		keys[spans] = string(key)
	}
	slices.SortFunc(request.ResourceSpans, func(a, b *trace.ResourceSpans) int { return cmp.Compare(keys[a], keys[b]) })
	return &request
}

func oneSpan() []sdktrace.ReadOnlySpan {
	return tracetest.SpanStubs{{Name: "one"}}.Snapshots()
}

type otlpSpan = trace.Span

func eachSpan(request *collector.ExportTraceServiceRequest, do func(*otlpSpan)) {
	for _, resource := range request.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			for _, span := range scope.Spans {
				do(span)
			}
		}
	}
}
