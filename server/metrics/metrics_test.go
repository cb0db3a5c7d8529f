package metrics_test

import (
	"flag"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server/metrics"
	"github.com/kitebase/kitebase-mcp/server/resilience"
)

var update = flag.Bool("update", false, "rewrite the table of metrics in docs/operations")

// scrape returns the lines of one scrape that are ours, without those about the build.
func scrape(t *testing.T, m *metrics.Metrics) string {
	t.Helper()
	got := httptest.NewRecorder()
	m.Handler().ServeHTTP(got, httptest.NewRequest("GET", "/metrics", nil))
	require.Equal(t, 200, got.Code)
	var ours strings.Builder
	for line := range strings.Lines(got.Body.String()) {
		if strings.HasPrefix(line, "kitebase_mcp_") && !strings.HasPrefix(line, "kitebase_mcp_build_info") {
			ours.WriteString(line)
		}
	}
	return ours.String()
}

func TestObserve(t *testing.T) {
	for name, c := range map[string]struct {
		seen resilience.Observation
		want []string // all that is not zero
	}{
		"a success": {
			resilience.Observation{Tool: "read", Attempts: 1, Took: 30 * time.Millisecond},
			[]string{`calls_total{result="ok",tool="read"} 1`, `attempts_total{tool="read"} 1`},
		},
		"a retry helped": {
			resilience.Observation{Tool: "read", Attempts: 3},
			[]string{`calls_total{result="ok",tool="read"} 1`, `attempts_total{tool="read"} 3`, `retries_total{tool="read"} 2`},
		},
		"a failure": {
			resilience.Observation{Tool: "send", Kind: resilience.TimedOut, Attempts: 2},
			[]string{`calls_total{result="timeout",tool="send"} 1`, `attempts_total{tool="send"} 2`, `retries_total{tool="send"} 1`},
		},
		"a refusal": {
			resilience.Observation{Tool: "send", Kind: resilience.CircuitOpen},
			[]string{`calls_total{result="circuit_open",tool="send"} 1`, `refusals_total{tool="send"} 1`},
		},
		"a copy": {
			resilience.Observation{Tool: "read", Attempts: 2, ServedBy: "copy"},
			[]string{`calls_total{result="ok",tool="read"} 1`, `attempts_total{tool="read"} 2`, `retries_total{tool="read"} 1`,
				`fallback_answers_total{tool="read"} 1`},
		},
		"the model repeats": {
			resilience.Observation{Tool: "send", Replayed: true, RepeatedBy: "model"},
			[]string{`calls_total{result="ok",tool="send"} 1`, `duplicates_suppressed_total{by="model"} 1`},
		},
		"our own retry repeats": {
			resilience.Observation{Tool: "send", Attempts: 2, RepeatedBy: "retry"},
			[]string{`calls_total{result="ok",tool="send"} 1`, `attempts_total{tool="send"} 2`, `retries_total{tool="send"} 1`,
				`duplicates_suppressed_total{by="retry"} 1`},
		},
		"nobody knows who repeats": {
			resilience.Observation{Tool: "send", Attempts: 1, Replayed: true},
			[]string{`calls_total{result="ok",tool="send"} 1`, `attempts_total{tool="send"} 1`, `duplicates_suppressed_total{by="unknown"} 1`},
		},
		"a kind of the handler's own": {
			resilience.Observation{Tool: "send", Kind: "overcast", Attempts: 1},
			[]string{`calls_total{result="overcast",tool="send"} 1`, `attempts_total{tool="send"} 1`},
		},
		"a tool that is not ours": {resilience.Observation{Tool: "canary", Attempts: 1}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			m := metrics.New(metrics.Config{Tools: []string{"read", "send"}})
			m.Observe(c.seen)
			got := scrape(t, m)
			var counted []string
			for line := range strings.Lines(got) {
				line = strings.TrimSpace(strings.TrimPrefix(line, "kitebase_mcp_"))
				if !strings.HasSuffix(line, " 0") && !strings.HasPrefix(line, "call_duration") {
					counted = append(counted, line)
				}
			}
			require.ElementsMatch(t, c.want, counted)
			if c.want != nil {
				require.Contains(t, got, fmt.Sprintf("kitebase_mcp_call_duration_seconds_count{tool=%q} 1\n", c.seen.Tool))
			}
			require.NotContains(t, got, "canary")
		})
	}
	t.Run("nothing is counted by nil", func(t *testing.T) {
		var off *metrics.Metrics
		off.Observe(resilience.Observation{Tool: "read"})
		require.Nil(t, off.Tool("read"))
	})
}

// TestZeroes: Prometheus sees no increase in a counter that begins with one, and the first duplicate must be seen.
func TestZeroes(t *testing.T) {
	got := scrape(t, metrics.New(metrics.Config{Tools: []string{"send"}}))
	for _, kind := range append(resilience.Kinds(), "ok") {
		require.Contains(t, got, fmt.Sprintf("kitebase_mcp_calls_total{result=%q,tool=\"send\"} 0\n", kind))
	}
	for _, by := range []string{"model", "host", "retry", "unknown"} {
		require.Contains(t, got, fmt.Sprintf("kitebase_mcp_duplicates_suppressed_total{by=%q} 0\n", by))
	}
}

func TestCallsInProgress(t *testing.T) {
	m := metrics.New(metrics.Config{Tools: []string{"read"}})
	m.Tool("read").Began()
	m.Tool("read").Began()
	m.Tool("read").Ended()
	require.Contains(t, scrape(t, m), `kitebase_mcp_calls_in_progress{tool="read"} 1`)
}

func TestGauges(t *testing.T) {
	var now metrics.Reading
	m := metrics.New(metrics.Config{Read: func() metrics.Reading { return now }})
	t.Run("what is not known is left out", func(t *testing.T) {
		got := scrape(t, m)
		for _, name := range []string{"ledger_usable", "unknown_replies", "oldest_unknown", "retry_budget", "retries_paused", "circuit_state"} {
			require.NotContains(t, got, name)
		}
	})
	t.Run("all", func(t *testing.T) {
		now = metrics.Reading{
			Circuits: map[string]resilience.CircuitState{"read": resilience.HalfOpen},
			Budget:   &metrics.Budget{Tokens: 4.5, Most: 10, Paused: true},
			Ledger:   &metrics.Ledger{Usable: true, Unknown: &metrics.Unknown{Replies: 2, OldestAge: 90 * time.Second}},
		}
		got := scrape(t, m)
		for _, line := range []string{
			`circuit_state{state="closed",tool="read"} 0`, `circuit_state{state="half-open",tool="read"} 1`, `circuit_state{state="open",tool="read"} 0`,
			`retry_budget_tokens 4.5`, `retry_budget_tokens_max 10`, `retries_paused 1`,
			`ledger_usable 1`, `unknown_replies 2`, `oldest_unknown_reply_age_seconds 90`,
		} {
			require.Contains(t, got, "kitebase_mcp_"+line+"\n")
		}
	})
	t.Run("a ledger that cannot be used", func(t *testing.T) {
		now = metrics.Reading{Ledger: new(metrics.Ledger)}
		got := scrape(t, m)
		require.Contains(t, got, "kitebase_mcp_ledger_usable 0\n")
		require.NotContains(t, got, "unknown_repl")
	})
}

// usual is what most calls look like.
var usual = resilience.Observation{Tool: "get_ticket", Attempts: 1, Took: 3 * time.Millisecond}

func TestCountingNeedsNoMemory(t *testing.T) {
	m := metrics.New(metrics.Config{Tools: []string{"get_ticket"}})
	tool := m.Tool("get_ticket")
	require.Zero(t, testing.AllocsPerRun(100, func() {
		tool.Began()
		m.Observe(usual)
		tool.Ended()
	}))
}

func BenchmarkCall(b *testing.B) {
	m := metrics.New(metrics.Config{Tools: []string{"get_ticket"}})
	tool := m.Tool("get_ticket")
	b.ReportAllocs()
	for b.Loop() {
		tool.Began()
		m.Observe(usual)
		tool.Ended()
	}
}
