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
func (c *Circuit) Status() CircuitStatus {
	c.breaker.State() // it opens half when it is asked
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.status
}

func (c *Circuit) changed(to CircuitState) {
	c.mu.Lock()
	now := time.Now()
	next := CircuitStatus{State: to, Since: now, FailingSince: c.status.FailingSince}
	switch {
	case to == Closed:
		next.FailingSince = time.Time{}
	case to == Open && c.status.State == Closed:
		next.FailingSince = now
	}
	if to == Open {
		next.ProbeAt = now.Add(c.config.Cooldown)
	}
	c.status = next
	c.mu.Unlock()
	if c.config.Changed != nil {
		c.config.Changed(next)
	}
}
