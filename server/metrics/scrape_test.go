package metrics_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	victoria "github.com/VictoriaMetrics/metrics"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server/metrics"
	"github.com/kitebase/kitebase-mcp/server/resilience"
)

// sample is one series as Prometheus's own parser reads it.
type sample struct {
	kind, help string
	labels     map[string]string
	value      float64
	buckets    map[float64]uint64 // how many of a histogram, by upper bound
}

// parse reads a scrape as a whole. It fails for a second HELP or TYPE of one name, and for the same series twice.
func parse(t *testing.T, text string) map[string][]sample {
	t.Helper()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	found, err := parser.TextToMetricFamilies(strings.NewReader(text))
	require.NoError(t, err)
	all := make(map[string][]sample)
	for name, family := range found {
		for _, metric := range family.GetMetric() {
			one := sample{kind: family.GetType().String(), help: family.GetHelp(), labels: make(map[string]string), buckets: make(map[float64]uint64)}
			for _, pair := range metric.GetLabel() {
				one.labels[pair.GetName()] = pair.GetValue()
			}
			for _, bucket := range metric.GetHistogram().GetBucket() {
				one.buckets[bucket.GetUpperBound()] = bucket.GetCumulativeCount()
			}
			one.value = metric.GetCounter().GetValue() + metric.GetGauge().GetValue() + metric.GetHistogram().GetSampleSum()
			require.NotContains(t, seriesOf(all[name]), one.labels, name)
			all[name] = append(all[name], one)
		}
	}
	return all
}

func seriesOf(samples []sample) (labels []map[string]string) {
	for _, each := range samples {
		labels = append(labels, each.labels)
	}
	return labels
}

// TestEveryNameHasTypeAndHelp: the library writes neither by itself.
func TestEveryNameHasTypeAndHelp(t *testing.T) {
	all := parse(t, everything(t))
	for name, samples := range all {
		require.NotEqual(t, "UNTYPED", samples[0].kind, name)
		require.NotEmpty(t, samples[0].help, name)
	}
	for name, kind := range map[string]string{
		"go_goroutines": "GAUGE", "go_threads": "GAUGE", "go_info": "GAUGE", "go_gc_duration_seconds": "SUMMARY",
		"go_memstats_heap_inuse_bytes": "GAUGE", "go_memstats_sys_bytes": "GAUGE", "go_memstats_mallocs_total": "COUNTER",
		"process_cpu_seconds_total": "COUNTER", "process_open_fds": "GAUGE", "process_max_fds": "GAUGE",
	} {
		require.Len(t, all[name], 1, name)
		require.Equal(t, kind, all[name][0].kind, name)
	}
	for _, name := range []string{"go_goroutines", "go_threads", "go_memstats_sys_bytes", "go_memstats_mallocs_total", "process_open_fds"} {
		require.Positive(t, all[name][0].value, name)
	}
}

func TestHistogram(t *testing.T) {
	m := metrics.New(metrics.Config{Tools: []string{"read"}})
	for _, took := range []time.Duration{0, 30 * time.Millisecond, 50 * time.Millisecond, time.Minute} {
		m.Observe(resilience.Observation{Tool: "read", Took: took})
	}
	got := httptest.NewRecorder()
	m.Handler().ServeHTTP(got, httptest.NewRequest("GET", "/metrics", nil))
	took := parse(t, got.Body.String())["kitebase_mcp_call_duration_seconds"][0]
	require.InDelta(t, 60.08, took.value, 1e-9)
	require.Len(t, took.buckets, 16)
	for bound, want := range map[float64]uint64{.005: 1, .025: 1, .05: 3, 30: 3} {
		require.Equal(t, want, took.buckets[bound], bound)
	}
	require.Contains(t, got.Body.String(), `_bucket{tool="read",le="+Inf"} 4`+"\n")
	require.Contains(t, got.Body.String(), `_count{tool="read"} 4`+"\n")
}

// TestTypesOfTheLibrary: a program around this package may have the library write types to all that it counts, of which a second
// one would end each scrape.
func TestTypesOfTheLibrary(t *testing.T) {
	victoria.ExposeMetadata(true)
	t.Cleanup(func() { victoria.ExposeMetadata(false) })
	all := parse(t, everything(t))
	require.Equal(t, "GAUGE", all["kitebase_mcp_calls_in_progress"][0].kind)
	require.NotEmpty(t, all["process_open_fds"][0].help)
}

func TestToolTwice(t *testing.T) {
	m := metrics.New(metrics.Config{Tools: []string{"read", "read"}})
	m.Observe(resilience.Observation{Tool: "read", Attempts: 1})
	require.Contains(t, scrape(t, m), `kitebase_mcp_attempts_total{tool="read"} 1`+"\n")
}

// FuzzNames states: whatever a tool, a kind of failure and the version are called, nothing panics, and Prometheus's own parser
// reads the scrape and finds them in it, with U+FFFD for what is no UTF-8.
func FuzzNames(f *testing.F) {
	f.Add("get_ticket", "overcast", "v1.2.3")
	f.Add(`a"b\`, "\n", `\n"`)
	f.Add(`a="b",c{}`, "# TYPE a counter", "a\r\x00b ")
	f.Add("\xff", `\\"`, "é\xc3")
	f.Fuzz(func(t *testing.T, tool, kind, version string) {
		m := metrics.New(metrics.Config{Tools: []string{tool}, Version: version, Read: func() metrics.Reading {
			return metrics.Reading{Circuits: map[string]resilience.CircuitState{tool: resilience.Open}}
		}})
		m.Observe(resilience.Observation{Tool: tool, Kind: resilience.Kind(kind), Attempts: 1})
		got := httptest.NewRecorder()
		m.Handler().ServeHTTP(got, httptest.NewRequest("GET", "/metrics", nil))
		all := parse(t, got.Body.String())

		named := func(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }
		require.Equal(t, map[string]string{"tool": named(tool)}, all["kitebase_mcp_attempts_total"][0].labels)
		require.Equal(t, named(tool), all["kitebase_mcp_circuit_state"][0].labels["tool"])
		require.Equal(t, named(tool), all["kitebase_mcp_call_duration_seconds"][0].labels["tool"])
		if version != "" {
			require.Equal(t, named(version), all["kitebase_mcp_build_info"][0].labels["version"])
		}
		ended := "ok"
		if kind != "" {
			ended = named(kind)
		}
		for _, each := range all["kitebase_mcp_calls_total"] {
			require.Equal(t, each.labels["result"] == ended, each.value == 1, each.labels)
		}
		require.Contains(t, seriesOf(all["kitebase_mcp_calls_total"]), map[string]string{"tool": named(tool), "result": ended})
	})
}

// TestScrapesAtOnce: readers that hang must not pile up.
func TestScrapesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reading, proceed := make(chan struct{}), make(chan struct{})
		m := metrics.New(metrics.Config{Read: func() metrics.Reading {
			reading <- struct{}{}
			<-proceed
			return metrics.Reading{}
		}})
		handler := m.Handler()
		ask := func() *httptest.ResponseRecorder {
			got := httptest.NewRecorder()
			handler.ServeHTTP(got, httptest.NewRequest("GET", "/metrics", nil))
			return got
		}
		var answers [8]*httptest.ResponseRecorder
		var asked sync.WaitGroup
		for i := range answers {
			asked.Go(func() { answers[i] = ask() })
			<-reading
		}
		refused := ask()
		require.Equal(t, http.StatusServiceUnavailable, refused.Code)
		require.NotContains(t, refused.Body.String(), "go_goroutines")
		close(proceed)
		asked.Wait()
		for _, got := range answers {
			require.Equal(t, http.StatusOK, got.Code)
			require.Equal(t, "text/plain; version=0.0.4; charset=utf-8", got.Header().Get("Content-Type"))
			require.Contains(t, got.Body.String(), "\ngo_goroutines ")
		}
		go func() { <-reading }()
		require.Equal(t, http.StatusOK, ask().Code, "a place is free again")
	})
}

// TestCountingWhileScraped is for the race detector.
func TestCountingWhileScraped(t *testing.T) {
	m := metrics.New(metrics.Config{Tools: []string{"read"}})
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 50 {
				m.Tool("read").Began()
				m.Observe(resilience.Observation{Tool: "read", Kind: "overcast", Attempts: 1})
				m.Tool("read").Ended()
			}
		})
		all.Go(func() { scrape(t, m) })
	}
	all.Wait()
	require.Contains(t, scrape(t, m), `kitebase_mcp_calls_total{result="overcast",tool="read"} 200`+"\n")
}
