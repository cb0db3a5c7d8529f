package simulation_test

import (
	"time"

	"github.com/kitebase/kitebase-mcp/fakeapi"
)

// evidence is what is known after a run, from both ends: what callers were told, and what Kitebase saw and did.
type evidence struct {
	*world
	requests []request
	emails   []email
}

// email is what a customer got.
type email struct {
	fakeapi.Email
	text int
	by   request // that sent it
}

func (w *world) evidence() evidence {
	e := evidence{world: w, requests: w.kitebase.all()}
	faults := make(map[string]fakeapi.FaultKind)
	for _, r := range w.kitebase.Requests() {
		faults[r.RequestID] = r.Fault
	}
	byID := make(map[string]request)
	for i := range e.requests {
		r := &e.requests[i]
		r.fault = faults[r.id]
		byID[r.id] = *r
	}
	for _, sent := range w.kitebase.Outbox() {
		e.emails = append(e.emails, email{sent, textOf(sent.Body), byID[sent.RequestID]})
	}
	return e
}

// replies returns the calls of reply_to_customer.
func (e evidence) replies() (all []*call) {
	for _, c := range e.calls {
		if c.event.Tool == toolReply {
			all = append(all, c)
		}
	}
	return all
}

// isFor reports whether the request is one that the call may have made: by its process, about its reply, while it was
// under way. Equal calls at one process at the same time are one run, so there is no other that can have made it.
func (c *call) isFor(r request) bool {
	if r.process != c.process || r.tool != c.event.Tool || r.at.Before(c.begun) || r.at.After(c.until()) {
		return false
	}
	switch r.tool {
	case toolReply:
		return r.ticket == ticketID(c.event.Ticket) && r.text == c.event.Text
	case toolSearch, toolHelp:
		return r.argument == c.query()
	}
	return true
}

// until is when the call was over for its caller.
func (c *call) until() time.Time {
	switch {
	case !c.answered.IsZero():
		return c.answered
	default:
		return c.begun.Add(c.limit + time.Minute)
	}
}

// wroteBetween reports whether the customer wrote then.
func (e evidence) wroteBetween(ticket string, from, to time.Time) bool {
	for _, w := range e.customer {
		if w.ticket == ticket && w.at.After(from) && w.at.Before(to) {
			return true
		}
	}
	return false
}

// since tells a time from the beginning of the run.
func (w *world) since(at time.Time) time.Duration { return at.Sub(w.began) }
