package otlp

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"fmt"
	"net/http"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// Exporter is a [sdktrace.SpanExporter]. It starts no goroutine but those of its connections. It is safe for concurrent use.
type Exporter struct {
	settings Settings
	headers  http.Header
	client   *http.Client

	patient context.Context // for another attempt
	hurry   context.CancelFunc
	running context.Context
	end     context.CancelFunc
}

// New returns an exporter, which connects when there is something to deliver.
func New(settings Settings) *Exporter {
	e := &Exporter{settings: settings, headers: settings.headers()}
	e.running, e.end = context.WithCancel(context.Background())
	e.patient, e.hurry = context.WithCancel(e.running)
	e.client = &http.Client{
		Transport: &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			DialContext:         connections{e.running}.dial,
			TLSClientConfig:     settings.Certificates.config(),
			TLSHandshakeTimeout: 10 * time.Second,
			IdleConnTimeout:     90 * time.Second,
			ForceAttemptHTTP2:   true, // also with certificates
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return e
}

// ExportSpans is part of [sdktrace.SpanExporter]. It returns within the time limit, as soon as ctx ends, and soon after
// Shutdown. The error may repeat the address of the collector; it wraps what net/http said, is a [Rejected] if the collector
// took some of the spans, or says with which status it refused them.
func (e *Exporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if err := e.running.Err(); err != nil {
		return fmt.Errorf("deliver spans after the end: %w", err)
	}
	body := encode(spans)
	if len(body) == 0 {
		return nil
	}
	if e.settings.Gzip {
		body = compress(body)
	}
	ctx, cancel := e.limited(ctx)
	defer cancel()
	if err := e.deliver(ctx, body); err != nil {
		return fmt.Errorf("deliver spans: %w", cmp.Or(e.running.Err(), err))
	}
	return nil
}

// limited is ctx with the time limit of a batch, which ends at Shutdown.
func (e *Exporter) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	cancelTimeout := func() {}
	if e.settings.Timeout > 0 {
		ctx, cancelTimeout = context.WithTimeout(ctx, e.settings.Timeout)
	}
	ctx, cancel := context.WithCancel(ctx)
	forget := context.AfterFunc(e.running, cancel)
	return ctx, func() {
		forget()
		cancel()
		cancelTimeout()
	}
}

// Hurry has no batch wait for another attempt from now on: the program is about to end. What is under way, and what comes,
// is tried once. What waits now ends with the error of its last attempt.
func (e *Exporter) Hurry() { e.hurry() }

// Shutdown is part of [sdktrace.SpanExporter]. It ends what is under way and closes the connections. It returns at once, and
// never an error.
func (e *Exporter) Shutdown(context.Context) error {
	e.end()
	return nil
}

// headers are those of each request.
func (s Settings) headers() http.Header {
	headers := make(http.Header)
	if s.UserAgent != "" {
		headers.Set("User-Agent", s.UserAgent)
	}
	for name, values := range s.Headers {
		headers[name] = values
	}
	headers.Set("Content-Type", protobuf)
	if s.Gzip {
		headers.Set("Content-Encoding", "gzip")
	}
	return headers
}

func compress(body []byte) []byte {
	var compressed bytes.Buffer
	w := gzip.NewWriter(&compressed)
	_, _ = w.Write(body) // a buffer takes all
	_ = w.Close()
	return compressed.Bytes()
}
