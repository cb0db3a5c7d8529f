package simulation_test

import (
	"strings"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/server/resilience"
)

// deadlines holds: every call is answered within its deadline, except that a slow store may take its time. Who crashed or
// cancelled gets no answer, and neither does who asked a process that ended.
func (e evidence) deadlines() {
	for _, c := range e.calls {
		if c.answered.IsZero() {
			excused := !c.cancelled.IsZero() || c.lost && (!c.process.lived(c.until()) || !c.process.runs() || e.schedule.uses(doCrash))
			if !excused {
				e.fail("every call is answered", "call %d (%s at %s): %s", c.number, c.event.callString(), c.process.name, c.ending())
			}
			continue
		}
		took := c.answered.Sub(c.begun)
		if late := took - c.limit - c.process.handle.waited(c.begun, c.answered); late > 0 {
			e.fail("every call is answered within its deadline", "call %d took %s, %s more than it may: %s", c.number, took, late, c.ending())
		}
	}
}

// attempts holds: what callers are told of attempts is what Kitebase saw of requests, except for those for which there was
// no connection. get_ticket is left out, since looks and probes read tickets as well.
func (e evidence) attempts() {
	for _, p := range e.processes {
		if !p.lived(e.began.Add(1 << 62)) {
			continue
		}
		for _, tool := range []string{toolReply, toolAssign, toolSearch, toolHelp} {
			said, saw := 0, 0
			for _, o := range p.observed {
				if o.Tool == tool {
					said += o.Attempts
				}
			}
			for _, r := range e.requests {
				if r.process == p && r.tool == tool {
					saw++
				}
			}
			if said < saw || said > saw+p.link.broken {
				e.fail("attempts are requests", "%s made %d requests for %s and told of %d attempts", p.name, saw, tool, said)
			}
		}
	}
	for _, c := range e.replies() {
		saw := 0
		for _, r := range e.requests {
			if c.isFor(r) {
				saw++
			}
		}
		if !c.answered.IsZero() && c.answer.attempts() > saw+c.process.link.broken {
			e.fail("attempts are requests", "call %d: %s; Kitebase saw %d", c.number, c.ending(), saw)
		}
	}
}

// attemptsAreLimited holds: for no call does Kitebase see more requests with one key than there may be attempts, and of
// a reply without keys just one. Those that it answered by saying that the first one still runs do not count.
func (e evidence) attemptsAreLimited() {
	type effort struct {
		call int
		key  string
	}
	setup := e.schedule.Setup
	saw := make(map[effort]int)
	for _, r := range e.requests {
		if r.tool != toolReply && r.tool != toolSearch && r.tool != toolHelp || r.waitsForFirst() {
			continue
		}
		c := e.maker(r)
		if c == nil || c.answered.IsZero() { // the requests of a later call might be taken for its own
			continue
		}
		limit := setup.Attempts
		if r.tool == toolReply && setup.Keys == KeysIgnored {
			limit = 1
		}
		this := effort{c.number, r.key}
		if saw[this]++; saw[this] == limit+1 {
			e.fail("attempts are limited", "call %d (%s): %s; its request %d with key %q came at %s, at most %d may", c.number, c.event.callString(), c.ending(), limit+1, r.key, e.since(r.at), limit)
		}
	}
}

// waits holds: within a call nobody tries again before the time that Kitebase asked for.
func (e evidence) waits() {
	for _, c := range e.calls {
		if c.answered.IsZero() || c.answer.attempts() < 2 || c.event.Tool == toolGet || c.event.Tool == toolAssign {
			continue
		}
		last := request{}
		for _, r := range e.requests {
			if !c.isFor(r) {
				continue
			}
			if last.retryAfter > 0 && r.at.Sub(last.at) < last.retryAfter && (last.status == 429 || last.status == 503) {
				e.fail("Retry-After is kept", "call %d tried again after %s, asked to wait %s", c.number, r.at.Sub(last.at), last.retryAfter)
			}
			last = r
		}
	}
}

// writesAreFinished holds: the cancellation of a write that has been sent does not end it.
func (e evidence) writesAreFinished() {
	for _, p := range e.processes {
		for _, o := range p.observed {
			if (o.Tool == toolReply || o.Tool == toolAssign) && o.Kind == resilience.Canceled && o.Attempts > 0 {
				e.fail("a write that has started is finished", "%s cut %s short at %s after %d attempt(s)", p.name, o.Tool, e.since(o.Began.Add(o.Took)), o.Attempts)
			}
		}
	}
}

// words holds: an answer is a result, and an error one that a model can read.
func (e evidence) words() {
	for _, c := range e.calls {
		switch {
		case c.answered.IsZero():
		case c.answer.rpcError != "":
			e.fail("answers are readable", "call %d: protocol error %s", c.number, c.answer.rpcError)
		case c.answer.IsError && (c.answer.Meta.Error == nil || !strings.HasPrefix(c.answer.text(), "Error: ")):
			e.fail("answers are readable", "call %d: %s", c.number, c.answer.text())
		case c.answer.IsError && c.answer.Meta.Error.Outcome == idempotency.Done.String():
			e.fail("answers are readable", "call %d is an error and done: %s", c.number, c.answer.text())
		}
	}
}
