package resilience

import "time"

// CircuitState is where a circuit stands.
type CircuitState string

// The states of a circuit.
const (
	Closed   CircuitState = "closed"
	Open     CircuitState = "open"
	HalfOpen CircuitState = "half-open" // the cooldown is over: the next call is the probe, or it is under way
)

// CircuitStatus is what there is to know about a circuit.
type CircuitStatus struct {
	State CircuitState
	// Since is when it came into that state, zero if it never left the first.
	Since time.Time
	// FailingSince is when it opened after it had last been closed, zero while it is closed.
	FailingSince time.Time
	// ProbeAt is when the next call is let through as a probe, zero unless the circuit is open.
	ProbeAt time.Time
}

// Status returns where the circuit stands now.
func (c *Circuit) Status() CircuitStatus { return c.state.now() }
