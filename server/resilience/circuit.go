package resilience

import (
	"sync"
	"time"
)

// circuit is the state of a [Circuit]:
//
//	        failures in a row               the cooldown is over
//	closed ──────────────────▶ open ──────────────────────────────▶ half-open
//	   ▲                        ▲                                    │     │
//	   │                        └───────── the probe failed ─────────┘     │
//	   └────────────────────────────────── the probe was answered ─────────┘
//
// While it is closed it reads no clock and needs no memory for a call.
type circuit struct {
	threshold int // zero or less: it never opens
	cooldown  time.Duration
	tell      func(CircuitStatus) // nil: nobody

	mu      sync.Mutex
	status  CircuitStatus
	era     uint64 // counts the changes: a call of an earlier era says nothing about this one
	row     int    // failures since the last answer
	probing bool   // the place of the probe is taken
}

// pass is what a call was let through with.
type pass struct {
	era   uint64
	probe bool
}

func newCircuit(config BreakerConfig) circuit {
	return circuit{
		threshold: config.Threshold, cooldown: config.Cooldown, tell: config.Changed, status: CircuitStatus{State: Closed},
	}
}

// admit lets a call through, or does not. Each pass must be given to ended.
func (c *circuit) admit() (pass, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cool()
	probe := c.status.State == HalfOpen
	if c.status.State == Open || probe && c.probing {
		return pass{}, false
	}
	c.probing = probe
	return pass{c.era, probe}, true
}

// ended counts a call that was let through.
func (c *circuit) ended(with pass, counts weight) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if with.era != c.era {
		return
	}
	switch counts {
	case nothing:
		c.probing = false
	case answer:
		c.row = 0
		if with.probe {
			c.turn(Closed)
		}
	case failure:
		c.row++
		if with.probe || c.row == c.threshold {
			c.turn(Open)
		}
	}
}

// now returns the status.
func (c *circuit) now() CircuitStatus {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cool()
	return c.status
}

// cool needs the lock. It ends a cooldown that is over.
func (c *circuit) cool() {
	if c.status.State == Open && !time.Now().Before(c.status.ProbeAt) {
		c.turn(HalfOpen)
	}
}

// turn needs the lock. It begins an era, and tells of it under the lock, so that each change is told after the one before.
func (c *circuit) turn(to CircuitState) {
	now := time.Now()
	next := CircuitStatus{State: to, Since: now, FailingSince: c.status.FailingSince}
	switch {
	case to == Closed:
		next.FailingSince = time.Time{}
	case c.status.State == Closed:
		next.FailingSince = now
	}
	if to == Open {
		next.ProbeAt = now.Add(c.cooldown)
	}
	c.status, c.probing = next, false
	c.era++
	if c.tell != nil {
		c.tell(next)
	}
}
