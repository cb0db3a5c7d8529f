package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/kitebase/kitebase-mcp/server/resilience"
)

// Tool has the counters of one tool, which were looked up once: counting a call needs no memory. It is safe for concurrent
// use.
type Tool struct {
	underWay                           prometheus.Gauge
	took                               prometheus.Observer
	results                            map[resilience.Kind]prometheus.Counter // "" for a success; not written to
	attempts, retries, copies, refused prometheus.Counter
}

// Began says that a call has begun. Each needs one [Tool.Ended].
func (t *Tool) Began() { t.underWay.Inc() }

// Ended says that a call has ended.
func (t *Tool) Ended() { t.underWay.Dec() }

func (t *Tool) count(seen resilience.Observation) {
	t.took.Observe(seen.Took.Seconds())
	t.attempts.Add(float64(seen.Attempts))
	if seen.Attempts > 1 {
		t.retries.Add(float64(seen.Attempts - 1))
	}
	if seen.ServedBy != "" {
		t.copies.Inc()
	}
	if seen.Kind != "" && seen.Attempts == 0 {
		t.refused.Inc()
	}
}
