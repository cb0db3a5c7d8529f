package metrics

import (
	"time"

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

// addReading adds a gauge for each thing that is known.
func (all *families) addReading(now Reading) {
	circuits := all.add(gauge, namespace+"circuit_state", "1 for the state in which the circuit of a tool is: closed, open (its calls are refused) or half-open (the next call finds out).")
	for tool, stands := range now.Circuits {
		for _, state := range []resilience.CircuitState{resilience.Closed, resilience.Open, resilience.HalfOpen} {
			circuits.gauge("state", string(state), "tool", tool).Set(number(state == stands))
		}
	}
	is := func(value float64, name, help string) { all.add(gauge, namespace+name, help).gauge().Set(value) }
	if budget := now.Budget; budget != nil {
		is(budget.Tokens, "retry_budget_tokens", "Tokens left in the budget of retries; none if there is no limit.")
		is(budget.Most, "retry_budget_tokens_max", "Tokens of a full budget of retries.")
		is(number(budget.Paused), "retries_paused", "1 while nothing is retried, because the budget is half empty or less.")
	}
	if now.Ledger == nil {
		return
	}
	is(number(now.Ledger.Usable), "ledger_usable", "1 if what is sent can be written down, 0 if not; none until the ledger was first needed.")
	if open := now.Ledger.Unknown; open != nil {
		is(float64(open.Replies), "unknown_replies", "Replies of which nobody knows whether they were sent; none while the ledger does not say.")
		is(open.OldestAge.Seconds(), "oldest_unknown_reply_age_seconds", "Time since the first attempt of the oldest of the unknown replies; 0 if there is none.")
	}
}

func number(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
