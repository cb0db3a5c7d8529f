package simulation_test

import (
	"slices"
	"time"
)

// rewordedIsHeld holds: while a reply to a ticket is unknown, no other text goes out to it, unless somebody was told that
// the first one was delivered. After the horizon the first one counts as not sent.
func (e evidence) rewordedIsHeld() {
	for _, c := range e.replies() {
		for _, r := range e.requests {
			if e.maker(r) != c || c.process.handle.failedWithin(c.begun, r.at) || c.answered.IsZero() && !c.process.lived(c.until()) {
				continue
			}
			if open := e.openBefore(c, r); open != nil {
				e.fail("a reworded reply is held", "call %d sent text %c at %s; text %c is unknown since call %d at %s",
					c.number, 'A'+rune(c.event.Text), e.since(r.at), 'A'+rune(open.event.Text), open.number, e.since(open.answered))
			}
			break // only its first request: the others are attempts
		}
	}
}

// maker returns the first call that may have made the request, since equal calls that come later join it; nil for none.
func (e evidence) maker(r request) *call {
	for _, c := range e.calls {
		if c.isFor(r) {
			return c
		}
	}
	return nil
}

// openBefore returns a call with another text to the same ticket which left it unknown when c sent r, or nil.
func (e evidence) openBefore(c *call, r request) *call {
	setup := e.schedule.Setup
	for _, u := range e.replies() {
		if u.event.Ticket != c.event.Ticket || u.event.Text == c.event.Text || u.answered.IsZero() || u.answer.outcome() != "unknown" ||
			u.answer.attempts() == 0 || !u.answered.Before(c.begun) || r.at.After(u.answered.Add(setup.SettleAfter-setup.clocks()-time.Second)) ||
			u.process.handle.failedWithin(u.begun, u.answered) || setup.Window < time.Hour {
			continue
		}
		if !e.wasTold(u, r.at) {
			return u
		}
	}
	return nil
}

// wasTold reports whether somebody was told between then and u what became of its reply.
func (e evidence) wasTold(u *call, then time.Time) bool {
	return slices.ContainsFunc(e.replies(), func(c *call) bool {
		if c.event.Ticket != u.event.Ticket {
			return false
		}
		if c.answered.IsZero() { // perhaps: it was told to a caller who had left
			return c.begun.Before(then) && c.event.Tool == toolReply && c.process == u.process || !c.process.lived(then)
		}
		return c.answered.After(u.answered) && c.begun.Before(then) &&
			(c.answer.isDelivered() || c.event.Text == u.event.Text && c.answer.outcome() != "unknown")
	})
}
