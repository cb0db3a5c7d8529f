package simulation_test

import (
	"slices"
	"strings"
	"time"
)

// emailsPerReply holds: one email per logical reply. A logical reply is a text to a ticket in one generation; a new
// generation begins when the customer writes, or when the window has passed since the first email.
func (e evidence) emailsPerReply() {
	setup := e.schedule.Setup
	copies := e.copies()
	for i, second := range e.emails {
		first := e.before(i, copies)
		if first == nil || copies[i] || e.wroteBetween(first.TicketID, first.SentAt, second.SentAt) {
			continue
		}
		// The window runs from the claim, which is before the email by the time of a call and of Kitebase's work.
		slack := setup.CallDeadline + setup.SettleAfter + setup.clocks()
		if second.SentAt.Sub(first.SentAt) >= setup.Window-slack {
			continue
		}
		e.fail("one email per logical reply", "%s and %s are both text %c to %s, sent at %s by %s and at %s by %s, with keys %s and %s",
			first.ReplyID, second.ReplyID, 'A'+rune(second.text), second.TicketID, e.since(first.SentAt), nameOf(first.by.process),
			e.since(second.SentAt), nameOf(second.by.process), first.IdempotencyKey, second.IdempotencyKey)
	}
}

// windowsEnd holds: what was sent longer ago than the window makes no repeat. What the ledger does not know, because the retention
// is over or memory stands in for it, a Kitebase that honours keys may still know by the key of the first generation. What nobody
// was told of yet is told first, however long ago it was.
func (e evidence) windowsEnd() {
	setup := e.schedule.Setup
	for _, c := range e.replies() {
		if c.answered.IsZero() || c.answer.IsError || !c.answer.Meta.Replayed || e.mayNotKnow(c) {
			continue
		}
		for _, m := range e.emails {
			if past := c.begun.Sub(m.SentAt); m.ReplyID == c.answer.Structured.ReplyID && past > setup.Window+setup.clocks() && past < 2*setup.Window-setup.clocks() && e.toldSent(m.ReplyID, c.begun) {
				e.fail("a reply is new after the window", "call %d, begun at %s: %s; that was sent %s before", c.number, e.since(c.begun), c.ending(), past)
			}
		}
	}
}

// toldSent reports whether an answer before then told of a reply that it was sent.
func (e evidence) toldSent(reply string, then time.Time) bool {
	return slices.ContainsFunc(e.replies(), func(c *call) bool {
		return !c.answered.IsZero() && c.answered.Before(then) && !c.answer.IsError && c.answer.Structured.ReplyID == reply
	})
}

func nameOf(p *process) string {
	if p == nil {
		return "nobody"
	}
	return p.name
}

// copies returns the admitted duplicates, by their place among the emails.
func (e evidence) copies() map[int]bool {
	copies := make(map[int]bool)
	if e.schedule.Setup.Keys != KeysSecret {
		return copies
	}
	for i, second := range e.emails {
		copies[i] = slices.ContainsFunc(e.emails[:i], func(first email) bool { return e.isAdmitted(first, second) })
	}
	return copies
}

// before returns the email with the same text to the same ticket before the one at i that is no copy, or nil.
func (e evidence) before(i int, copies map[int]bool) *email {
	for j, other := range slices.Backward(e.emails[:i]) {
		if !copies[j] && other.TicketID == e.emails[i].TicketID && other.text == e.emails[i].text {
			return &other
		}
	}
	return nil
}

// isAdmitted reports whether a duplicate is the one that cannot be helped: where Kitebase ignores keys and nobody has told
// the servers, a process finds out by a retry of its own that goes out twice. So both emails must come from one call, and
// the process must not have found out before it decided to send the later one.
func (e evidence) isAdmitted(first, second email) bool {
	p := second.by.process
	decided := second.by.at.Add(-e.schedule.look())
	if first.by.process != p || e.foundOut(p).Before(first.by.at) || e.foundOut(p).Before(decided) {
		return false
	}
	return slices.ContainsFunc(e.replies(), func(c *call) bool { return c.isFor(first.by) && c.isFor(second.by) })
}

// foundOut is when a process knew that Kitebase ignores keys: at the latest when it said so.
func (e evidence) foundOut(p *process) time.Time {
	first := e.began.Add(1 << 62)
	for _, c := range e.replies() {
		if c.process == p && !c.answer.Meta.Replayed && strings.Contains(c.answer.Structured.Note, "more than once") && c.answered.Before(first) {
			first = c.answered
		}
	}
	return first
}

// copiesAreTold holds: where Kitebase ignores keys in secret and a call sent more than once, it says so, if the ticket could
// be read meanwhile.
func (e evidence) copiesAreTold() {
	if e.schedule.Setup.Keys != KeysSecret || e.schedule.uses(doStore, doCut, doPartition) {
		return
	}
	for _, c := range e.replies() {
		if c.answered.IsZero() || c.answer.outcome() != "done" || c.answer.Meta.Replayed || strings.Contains(c.answer.Structured.Note, "more than once") {
			continue
		}
		sent, read := 0, time.Time{} // when the ticket was first read
		whole := true                // and all that was read of it could be
		for _, r := range e.requests {
			if r.process != c.process || r.tool != toolGet || r.ticket != ticketID(c.event.Ticket) || r.at.Before(c.begun) || r.at.After(c.answered) {
				continue
			}
			whole = whole && r.fault == "" && c.answered.Sub(c.begun) < c.limit // or the answer may have come too late
			if read.IsZero() {
				read = r.at
			}
		}
		for _, m := range e.emails {
			if c.isFor(m.by) && m.SentAt.Before(read) {
				sent++
			}
		}
		if sent > 1 && whole {
			e.fail("copies are told", "call %d: %s; it sent %d emails", c.number, c.ending(), sent)
		}
	}
}
