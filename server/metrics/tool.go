package metrics

import (
	victoria "github.com/VictoriaMetrics/metrics"

	"github.com/kitebase/kitebase-mcp/server/resilience"
)

// Tool has the counters of one tool, which were looked up once: counting a call needs no memory. It is safe for concurrent
// use.
type Tool struct {
	underWay                           *victoria.Gauge
	took                               *victoria.PrometheusHistogram
	results                            map[resilience.Kind]*victoria.Counter // "" for a success; not written to
	attempts, retries, copies, refused *victoria.Counter
}

// Began says that a call has begun. Each needs one [Tool.Ended].
func (t *Tool) Began() { t.underWay.Inc() }

// Ended says that a call has ended.
func (t *Tool) Ended() { t.underWay.Dec() }

func (t *Tool) count(seen resilience.Observation) {
	t.took.Update(seen.Took.Seconds())
	t.attempts.Add(seen.Attempts)
	if seen.Attempts > 1 {
		t.retries.Add(seen.Attempts - 1)
	}
	if seen.ServedBy != "" {
		t.copies.Inc()
	}
	if seen.Kind != "" && seen.Attempts == 0 {
		t.refused.Inc()
	}
}
