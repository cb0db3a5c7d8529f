package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kitebase/kitebase-mcp/server/resilience"
)

// Reading is how things stand. What is nil is not known, or does not exist, and is left out.
type Reading struct {
	// Circuits are the states of the circuits, by tool.
	Circuits map[string]resilience.CircuitState
	// Budget is that of the retries. Default nil: there is no limit.
	Budget *Budget
	// Ledger is nil while it is not known how the ledger stands.
	Ledger *Ledger
}

// Budget is how the budget of retries stands.
type Budget struct {
	// Tokens are left of Most.
	Tokens, Most float64
	// Paused says that nothing is retried.
	Paused bool
}

// Ledger is how the ledger of what was sent stands.
type Ledger struct {
	// Usable says whether it can be read and written.
	Usable bool
	// Unknown is nil if the ledger did not say.
	Unknown *Unknown
}

// Unknown are the replies of which nobody knows whether they were sent.
type Unknown struct {
	Replies int
	// OldestAge is how long ago the first attempt of the oldest of them was; 0 if there is none.
	OldestAge time.Duration
}

// gauges collects a [Reading] at each scrape.
type gauges struct{ read func() Reading }

func gauge(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(prometheus.BuildFQName(namespace, "", name), help, labels, nil)
}

var (
	circuitState = gauge("circuit_state", "1 for the state in which the circuit of a tool is: closed, open (its calls are refused) or half-open (the next call finds out).", "tool", "state")
	budgetTokens = gauge("retry_budget_tokens", "Tokens left in the budget of retries; none if there is no limit.")
	budgetMost   = gauge("retry_budget_tokens_max", "Tokens of a full budget of retries.")
	paused       = gauge("retries_paused", "1 while nothing is retried, because the budget is half empty or less.")
	usable       = gauge("ledger_usable", "1 if what is sent can be written down, 0 if not; none until the ledger was first needed.")
	unknown      = gauge("unknown_replies", "Replies of which nobody knows whether they were sent; none while the ledger does not say.")
	oldest       = gauge("oldest_unknown_reply_age_seconds", "Time since the first attempt of the oldest of the unknown replies; 0 if there is none.")
)

// Describe is part of [prometheus.Collector].
func (g *gauges) Describe(to chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{circuitState, budgetTokens, budgetMost, paused, usable, unknown, oldest} {
		to <- desc
	}
}

// Collect is part of [prometheus.Collector].
func (g *gauges) Collect(to chan<- prometheus.Metric) {
	if g.read == nil {
		return
	}
	is := func(desc *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
	}
	now := g.read()
	for tool, stands := range now.Circuits {
		for _, state := range []resilience.CircuitState{resilience.Closed, resilience.Open, resilience.HalfOpen} {
			is(circuitState, number(state == stands), tool, string(state))
		}
	}
	if budget := now.Budget; budget != nil {
		is(budgetTokens, budget.Tokens)
		is(budgetMost, budget.Most)
		is(paused, number(budget.Paused))
	}
	if now.Ledger == nil {
		return
	}
	is(usable, number(now.Ledger.Usable))
	if open := now.Ledger.Unknown; open != nil {
		is(unknown, float64(open.Replies))
		is(oldest, open.OldestAge.Seconds())
	}
}

func number(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
