package metrics

import (
	"cmp"
	"net/http"
	"runtime"
	"slices"

	victoria "github.com/VictoriaMetrics/metrics"

	"github.com/kitebase/kitebase-mcp/server/resilience"
)

// namespace begins the name of every metric that is ours.
const namespace = "kitebase_mcp_"

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
	read       func() Reading
	counted    families // as they were made by New
	calls      *family
	duplicates map[string]*victoria.Counter
	tools      map[string]*Tool
}

// durations are the upper bounds of the histogram in seconds: fine where calls should be, and up to the deadline of a call,
// which is 25s by default, with one above for what is longer.
var durations = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 15, 20, 25, 30}

// New returns metrics that are all zero.
func New(config Config) *Metrics {
	m := &Metrics{read: config.Read, duplicates: make(map[string]*victoria.Counter), tools: make(map[string]*Tool)}
	m.counted.add(gauge, namespace+"build_info", "Always 1; the labels say which program this is.").
		gauge("go_version", runtime.Version(), "version", cmp.Or(config.Version, "dev")).Set(1)
	m.addCounters(config.Tools)
	return m
}

func (m *Metrics) addCounters(tools []string) {
	counters := func(name, help string) *family { return m.counted.add(counter, namespace+name, help) }
	m.calls = counters("calls_total", "Finished calls, by how they ended: ok, or the kind of failure.")
	attempts := counters("attempts_total", "Times that Kitebase was asked on behalf of calls; looks that settle are none.")
	retries := counters("retries_total", "Attempts after the first one of a call.")
	copies := counters("fallback_answers_total", "Calls that were answered from a copy, because Kitebase did not answer.")
	refused := counters("refusals_total", "Failed calls of which Kitebase was asked nothing.")
	duplicates := counters("duplicates_suppressed_total",
		"Replies that were asked for again and not sent again, by who repeated: model, host, retry (our own), or unknown.")
	took := m.counted.add(histogram, namespace+"call_duration_seconds", "How long calls took, waits included.")
	underWay := m.counted.add(gauge, namespace+"calls_in_progress", "Calls that are under way, those that wait for a place included.")

	for _, by := range []string{"model", "host", "retry", "unknown"} {
		m.duplicates[by] = duplicates.counter("by", by)
	}
	for _, name := range tools {
		t := &Tool{
			underWay: underWay.gauge("tool", name), took: took.histogram(durations, "tool", name),
			results:  make(map[resilience.Kind]*victoria.Counter),
			attempts: attempts.counter("tool", name), retries: retries.counter("tool", name),
			copies: copies.counter("tool", name), refused: refused.counter("tool", name),
		}
		for _, kind := range append(resilience.Kinds(), "") {
			t.results[kind] = m.result(name, kind)
		}
		m.tools[name] = t
	}
}

func (m *Metrics) result(tool string, kind resilience.Kind) *victoria.Counter {
	return m.calls.counter("result", cmp.Or(string(kind), "ok"), "tool", tool)
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

// atOnce is how many scrapes of one handler may be under way.
const atOnce = 8

// Handler serves all metrics as text. What cannot be collected is left out. While eight scrapes are under way, others get
// status 503.
func (m *Metrics) Handler() http.Handler {
	places := make(chan struct{}, atOnce)
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		select {
		case places <- struct{}{}:
			defer func() { <-places }()
		default:
			http.Error(w, "Too many scrapes are under way. Try again later.", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		_, _ = w.Write(m.scrape()) // whoever asked is gone
	})
}

// scrape returns all metrics in the text format of Prometheus.
func (m *Metrics) scrape() []byte {
	all := slices.Clone(m.counted)
	if m.read != nil {
		all.addReading(m.read())
	}
	all.addRuntime()
	all.addProcess()
	return all.text()
}
