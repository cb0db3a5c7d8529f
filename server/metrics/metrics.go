package metrics

import (
	"cmp"
	"net/http"
	"runtime"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/kitebase/kitebase-mcp/server/resilience"
)

// namespace begins the name of every metric that is ours.
const namespace = "kitebase_mcp"

// Config says what is counted. The zero value works and knows no tool.
type Config struct {
	// Tools are the names of the tools whose calls are counted; those of others are not. Default none.
	Tools []string
	// Version is the version of the program. Default "dev".
	Version string
	// Read returns how things stand. It is called at each scrape, by several at once, and must answer soon. Default nil:
	// what it would say is left out.
	Read func() Reading
}

// Metrics counts calls. It is safe for concurrent use. A nil one counts nothing.
type Metrics struct {
	registry   *prometheus.Registry
	calls      *prometheus.CounterVec
	duplicates map[string]prometheus.Counter
	tools      map[string]*Tool
}

// durations are the upper bounds of the histogram in seconds: fine where calls should be, and up to the deadline of a call,
// which is 25s by default, with one above for what is longer.
var durations = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 15, 20, 25, 30}

// New returns metrics that are all zero.
func New(config Config) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(), duplicates: make(map[string]prometheus.Counter), tools: make(map[string]*Tool),
	}
	m.registry.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		&gauges{read: config.Read},
	)
	in := promauto.With(m.registry)
	in.NewGaugeVec(prometheus.GaugeOpts{
		Namespace: namespace, Name: "build_info", Help: "Always 1; the labels say which program this is.",
	}, []string{"version", "go_version"}).WithLabelValues(cmp.Or(config.Version, "dev"), runtime.Version()).Set(1)
	m.addCounters(in, config.Tools)
	return m
}

func (m *Metrics) addCounters(in promauto.Factory, tools []string) {
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		return in.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, labels)
	}
	m.calls = counters("calls_total", "Finished calls, by how they ended: ok, or the kind of failure.", "tool", "result")
	attempts := counters("attempts_total", "Times that Kitebase was asked on behalf of calls; looks that settle are none.", "tool")
	retries := counters("retries_total", "Attempts after the first one of a call.", "tool")
	copies := counters("fallback_answers_total", "Calls that were answered from a copy, because Kitebase did not answer.", "tool")
	refused := counters("refusals_total", "Failed calls of which Kitebase was asked nothing.", "tool")
	duplicates := counters("duplicates_suppressed_total",
		"Replies that were asked for again and not sent again, by who repeated: model, host, retry (our own), or unknown.", "by")
	took := in.NewHistogramVec(prometheus.HistogramOpts{
		Namespace: namespace, Name: "call_duration_seconds", Help: "How long calls took, waits included.", Buckets: durations,
	}, []string{"tool"})
	underWay := in.NewGaugeVec(prometheus.GaugeOpts{
		Namespace: namespace, Name: "calls_in_progress", Help: "Calls that are under way, those that wait for a place included.",
	}, []string{"tool"})

	for _, by := range []string{"model", "host", "retry", "unknown"} {
		m.duplicates[by] = duplicates.WithLabelValues(by)
	}
	for _, name := range tools {
		t := &Tool{
			underWay: underWay.WithLabelValues(name), took: took.WithLabelValues(name),
			results:  make(map[resilience.Kind]prometheus.Counter),
			attempts: attempts.WithLabelValues(name), retries: retries.WithLabelValues(name),
			copies: copies.WithLabelValues(name), refused: refused.WithLabelValues(name),
		}
		for _, kind := range append(resilience.Kinds(), "") {
			t.results[kind] = m.result(name, kind)
		}
		m.tools[name] = t
	}
}

func (m *Metrics) result(tool string, kind resilience.Kind) prometheus.Counter {
	return m.calls.WithLabelValues(tool, cmp.Or(string(kind), "ok"))
}

// Observe counts a call that has ended.
func (m *Metrics) Observe(seen resilience.Observation) {
	t := m.Tool(seen.Tool)
	if t == nil {
		return
	}
	ended, known := t.results[seen.Kind]
	if !known { // a handler with a kind of its own
		ended = m.result(seen.Tool, seen.Kind)
	}
	ended.Inc()
	t.count(seen)
	if by := repeatedBy(seen); by != "" {
		m.duplicates[by].Inc()
	}
}

// repeatedBy returns who made the call again, or "" if it was no repeat.
func repeatedBy(seen resilience.Observation) string {
	switch seen.RepeatedBy {
	case "model", "host", "retry":
		return seen.RepeatedBy
	}
	if seen.Replayed {
		return "unknown"
	}
	return ""
}

// Tool returns what is counted for one tool, nil if its calls are not counted.
func (m *Metrics) Tool(name string) *Tool {
	if m == nil {
		return nil
	}
	return m.tools[name]
}

// Handler serves all metrics as text. What cannot be collected is left out.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorHandling: promhttp.ContinueOnError, DisableCompression: true, MaxRequestsInFlight: 8,
	})
}
