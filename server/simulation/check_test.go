package simulation_test

import (
	"slices"

	"github.com/kitebase/kitebase-mcp/fakeapi"
)

// check holds what callers were told against what Kitebase did. Each method is one thing that must hold; doc.go lists them.
func (w *world) check() {
	e := w.evidence()
	e.emailsPerReply()
	e.windowsEnd()
	e.copiesAreTold()
	e.sentIsTrue()
	e.notSentIsTrue()
	e.unknownIsWarranted()
	e.rewordedIsHeld()
	e.deadlines()
	e.attempts()
	e.attemptsAreLimited()
	e.waits()
	e.writesAreFinished()
	e.words()
}

// sentIsTrue holds: what was told as sent is in the outbox, as the reply that it was told to be; and what was told as sent
// now was sent by this call.
func (e evidence) sentIsTrue() {
	copies := e.copies()
	for _, c := range e.replies() {
		if c.answered.IsZero() || c.answer.outcome() != "done" || c.answer.IsError {
			continue
		}
		i := slices.IndexFunc(e.emails, func(m email) bool { return m.ReplyID == c.answer.Structured.ReplyID })
		switch {
		case i < 0 || e.emails[i].SentAt.After(c.answered):
			e.fail("nothing is told as sent that was not", "call %d: %s; there is no such email", c.number, c.ending())
		case e.emails[i].TicketID != ticketID(c.event.Ticket) || e.emails[i].text != c.event.Text:
			e.fail("nothing is told as sent that was not", "call %d: %s; that is text %c to %s", c.number, c.ending(), 'A'+rune(e.emails[i].text), e.emails[i].TicketID)
		case !c.answer.Meta.Replayed && e.emails[i].SentAt.Before(c.begun) && !e.mayNotKnow(c) && !copies[i]:
			e.fail("a repeat is told as one", "call %d, begun at %s: %s; it was sent at %s", c.number, e.since(c.begun), c.ending(), e.since(e.emails[i].SentAt))
		}
	}
}

// mayNotKnow reports whether the ledger may not know what was sent before, because the store failed and memory stood in. Then
// Kitebase alone knows; and when it says so to the second attempt of a call, or a look finds the reply, that may have meant
// the first one.
func (e evidence) mayNotKnow(c *call) bool {
	return e.schedule.Setup.Standby && e.schedule.uses(doStore) && c.answer.attempts() > 0
}

// notSentIsTrue holds: what was told as not sent was not, and never will be.
func (e evidence) notSentIsTrue() {
	for _, c := range e.replies() {
		if c.answered.IsZero() || c.answer.outcome() != "not_done" {
			continue
		}
		for _, m := range e.emails {
			if c.isFor(m.by) {
				e.fail("nothing is told as not sent that was", "call %d: %s; %s was sent by its request of %s", c.number, c.ending(), m.ReplyID, e.since(m.by.at))
			}
		}
	}
}

// unknownIsWarranted holds: nothing is told as unknown of which it was certain that it had not been sent. It asks only
// where no process, connection or store broke: there a request of which Kitebase saw nothing can be behind it.
func (e evidence) unknownIsWarranted() {
	if e.schedule.uses(doKill, doStop, doCut, doPartition, doStore, doClock) {
		return
	}
	for _, c := range e.replies() {
		if c.answered.IsZero() || c.answer.outcome() != "unknown" {
			continue
		}
		warranted := e.isUnderWay(c) || slices.ContainsFunc(e.requests, func(r request) bool {
			return r.tool == toolReply && r.ticket == ticketID(c.event.Ticket) && r.text == c.event.Text && !r.at.After(c.answered) &&
				!(r.isRefusal() && e.wasHeard(r))
		})
		if !warranted {
			e.fail("nothing is told as unknown that was certain", "call %d: %s", c.number, c.ending())
		}
	}
}

// isUnderWay reports whether the same was being sent while c was: what its caller did not wait for, nobody knows yet.
func (e evidence) isUnderWay(c *call) bool {
	return slices.ContainsFunc(e.replies(), func(o *call) bool {
		return o != c && o.event.Ticket == c.event.Ticket && o.event.Text == c.event.Text &&
			!o.begun.After(c.answered) && !o.until().Before(c.begun)
	})
}

// wasHeard reports whether the answer to a request came while its caller still waited.
func (e evidence) wasHeard(r request) bool {
	c := e.maker(r)
	return c != nil && r.ended.Before(c.begun.Add(c.limit)) && r.ended.Sub(r.at) < e.schedule.Setup.AttemptTimeout
}

// isRefusal reports whether Kitebase said for certain that it did nothing.
func (r request) isRefusal() bool {
	return r.status >= 400 && r.status < 500 && r.status != 408 && r.status != 409
}

// waitsForFirst reports whether Kitebase refused because an earlier request with the same key still ran.
func (r request) waitsForFirst() bool { return r.status == 409 && r.fault != fakeapi.FaultStatus }
