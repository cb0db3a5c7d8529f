package delegate

import (
	"time"

	"github.com/kitebase/kitebase-mcp/client_example/agent"
)

// Event is something that happened while a task was done: one of [Attempting], [Heard], [Retrying] and [GaveUp].
type Event interface{ event() }

// Attempting comes before a sub-loop runs; the first attempt is 1.
type Attempting struct {
	Path    string
	Attempt int
}

// Heard is an event of the sub-loop itself. None comes after the attempt is over.
type Heard struct {
	Path  string
	Event agent.Event
}

// Retrying comes before the wait for another attempt. The failure is that of the last one.
type Retrying struct {
	Failure *Failure
	Wait    time.Duration
}

// GaveUp comes when a path failed; the next one follows, if there is any.
type GaveUp struct {
	Failure *Failure
}

func (Attempting) event() {}
func (Heard) event()      {}
func (Retrying) event()   {}
func (GaveUp) event()     {}
