// Package metrics counts calls for Prometheus.
//
//	calls ──▶ Observe ──▶ counters, histogram ─┐
//	                                           ├─▶ Handler: what a scrape gets
//	circuits, budget, ledger ◀── Read ─ gauges ┘
//
// What happens is counted when it happens; how things stand is read when somebody scrapes.
//
//	m := metrics.New(metrics.Config{Tools: []string{"get_ticket"}, Read: read})
//	policy.Observe = func(_ context.Context, seen resilience.Observation) { m.Observe(seen) }
//	mux.Handle("/metrics", m.Handler())
//
// Names begin with kitebase_mcp_, units are seconds. Labels are the tool, the kind of failure, the state of a circuit and
// who repeated a call: nothing that a caller, a ticket or Kitebase could make up. Every series of every tool is there from
// the start, at zero, since Prometheus sees no increase in a counter that begins with one.
//
// Beside them are go_* and process_*, under the names and types that Prometheus's own clients give them. Whatever a tool or a
// kind of failure is called, the text can be read.
//
// Each [Metrics] counts for itself. It does not listen, and lets in whoever asks: that is for who serves it.
// docs/operations has the table of all metrics, a dashboard and alerts.
package metrics
