// Package tracetest is a collector for tests: it takes spans by OTLP over HTTP, as the real ones do, and shows them as plain
// values. It is no collector for anything else: it keeps all it got, in memory.
package tracetest

import (
	"compress/gzip"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Span is a span as it was delivered.
type Span struct {
	Name string
	// Kind is SERVER, CLIENT and so on.
	Kind string
	// Trace, ID and Parent are in hex; Parent is "" for a root.
	Trace, ID, Parent string
	// Links are spans of other traces, as trace-span.
	Links []string
	// Attributes are the values as text.
	Attributes map[string]string
	// Failed is the description of an error status, "" without one.
	Failed string
	// Resource has the attributes of the process.
	Resource map[string]string
}

// Collector receives spans. It is safe for concurrent use.
type Collector struct {
	// URL is its address without a path, for OTEL_EXPORTER_OTLP_ENDPOINT.
	URL string

	mu      sync.Mutex
	changed *sync.Cond
	spans   []Span
	bodies  [][]byte
	headers []http.Header
	status  int
	hang    chan struct{}
}

// Start returns a collector that ends with the test.
func Start(t *testing.T) *Collector {
	c := &Collector{status: http.StatusOK}
	c.changed = sync.NewCond(&c.mu)
	server := httptest.NewServer(c)
	c.URL = server.URL
	t.Cleanup(server.Close)
	t.Cleanup(c.Release) // first: a server waits for its requests
	return c
}

// Fail has the collector answer with that status from now on, and keep nothing unless it is 200.
func (c *Collector) Fail(status int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.status = status
}

// Hang has the collector read what comes and answer nothing, until Release.
func (c *Collector) Hang() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hang = make(chan struct{})
}

// Release ends Hang.
func (c *Collector) Release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hang != nil {
		close(c.hang)
		c.hang = nil
	}
}

// Spans returns what was delivered so far, in that order.
func (c *Collector) Spans() []Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]Span(nil), c.spans...)
}

// Raw returns the bodies that came, uncompressed, and their headers, also of what was not kept.
func (c *Collector) Raw() ([][]byte, []http.Header) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([][]byte(nil), c.bodies...), append([]http.Header(nil), c.headers...)
}

// Arrived waits until n requests have come.
func (c *Collector) Arrived(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.bodies) < n {
		c.changed.Wait()
	}
}

// Await returns the spans of that name once there are n.
func (c *Collector) Await(name string, n int) []Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		var named []Span
		for _, span := range c.spans {
			if span.Name == name {
				named = append(named, span)
			}
		}
		if len(named) >= n {
			return named
		}
		c.changed.Wait()
	}
}

// ServeHTTP is part of [http.Handler].
func (c *Collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := read(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	c.bodies, c.headers = append(c.bodies, body), append(c.headers, r.Header.Clone())
	c.changed.Broadcast()
	status, hang := c.status, c.hang
	c.mu.Unlock()
	if hang != nil {
		select {
		case <-hang:
		case <-r.Context().Done():
			return
		}
	}
	if status == http.StatusOK {
		err = c.keep(body)
	}
	if err != nil || r.URL.Path != "/v1/traces" || r.Method != http.MethodPost {
		status = http.StatusBadRequest
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, "canary-of-the-collector") // a client that left is no error
}

func read(r *http.Request) ([]byte, error) {
	if r.Header.Get("Content-Encoding") != "gzip" {
		return io.ReadAll(r.Body)
	}
	unzipped, err := gzip.NewReader(r.Body)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(unzipped)
}

func (c *Collector) keep(body []byte) error {
	var request collector.ExportTraceServiceRequest
	if err := proto.Unmarshal(body, &request); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, resource := range request.ResourceSpans {
		process := values(resource.Resource.GetAttributes())
		for _, scope := range resource.ScopeSpans {
			for _, span := range scope.Spans {
				c.spans = append(c.spans, readSpan(span, process))
			}
		}
	}
	c.changed.Broadcast()
	return nil
}

func readSpan(s *otlp.Span, process map[string]string) Span {
	span := Span{
		Name: s.Name, Kind: s.Kind.String()[len("SPAN_KIND_"):], Trace: hex.EncodeToString(s.TraceId), ID: hex.EncodeToString(s.SpanId),
		Parent: hex.EncodeToString(s.ParentSpanId), Attributes: values(s.Attributes), Resource: process,
	}
	for _, link := range s.Links {
		span.Links = append(span.Links, hex.EncodeToString(link.TraceId)+"-"+hex.EncodeToString(link.SpanId))
	}
	if s.Status.GetCode() == otlp.Status_STATUS_CODE_ERROR {
		span.Failed = s.Status.Message
	}
	return span
}

func values(attributes []*common.KeyValue) map[string]string {
	all := make(map[string]string, len(attributes))
	for _, a := range attributes {
		switch v := a.Value.GetValue().(type) {
		case *common.AnyValue_StringValue:
			all[a.Key] = v.StringValue
		case *common.AnyValue_IntValue:
			all[a.Key] = fmt.Sprint(v.IntValue)
		case *common.AnyValue_BoolValue:
			all[a.Key] = fmt.Sprint(v.BoolValue)
		default:
			all[a.Key] = a.Value.String()
		}
	}
	return all
}
