package simulation_test

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"testing/synctest"
	"time"

	"github.com/kitebase/kitebase-mcp/idempotency"
)

// finale mends everything, waits, and asks of the world what a world in order must be able to do:
//
//	everything under way is answered
//	after the horizon nothing is unknown any more
//	every tool gets through at every process: no circuit is stuck
//	every reply that was ever asked for can be sent, and is there once
//	after the customer wrote, it can be sent once more; and then is a repeat again
//	after the window, one of them can be sent once more as well
//	after the retention, the ledger is as good as empty
func (w *world) finale() {
	setup := w.schedule.Setup
	w.kitebase.ClearFaults()
	for _, p := range w.processes {
		p.arm("")
		p.handle.setFault(nil)
		p.link.heal()
	}
	time.Sleep(time.Second) // what dies now is dead before it is started again
	for slot := range setup.Processes {
		w.do(Event{Do: doStart, Slot: slot})
	}
	w.over = time.Now()
	w.note("-- everything works again")
	time.Sleep(setup.CallDeadline + 10*time.Second)
	w.lateCalls()
	time.Sleep(lookAgain + 2*setup.lease() + 2*setup.SettleAfter + 2*setup.clocks() + setup.AliveLag + setup.Cooldown)
	w.unknowns("after the horizon")
	w.reads()
	w.replies()
	w.renewals()
	w.unknowns("at the end")
	w.window()
	w.retention()
}

// lookAgain is the longest pause between two looks at what is unknown.
const lookAgain = 5 * time.Minute

// lateCalls finds the calls that are not answered although their time is over.
func (w *world) lateCalls() {
	for _, c := range w.calls {
		select {
		case <-c.done:
		default:
			w.fail("every call is answered", "call %d (%s at %s) still is not, %s after it was made", c.number, c.event.callString(), c.process.name, time.Since(c.begun))
		}
	}
}

// unknowns finds records that should have ended. A claim that could not be ended in the store waits for the next call; what
// memory has instead, since the store failed, waits there for the next process.
func (w *world) unknowns(when string) {
	found, _ := w.ledger.Memory.Find(context.Background(), idempotency.Query{States: []idempotency.State{idempotency.Unconfirmed, idempotency.Claimed}})
	if w.schedule.Setup.Standby && w.schedule.uses(doStore) {
		return
	}
	for _, r := range found {
		if r.Tool == toolReply && (r.State == idempotency.Unconfirmed || !w.schedule.uses(doStore) || when == "at the end") {
			w.fail("unknowns end", "%s, key %s of %s, claimed at %s, is %s %s", r.Tool, r.Key, r.Group, r.FirstAt.Sub(w.began), r.State, when)
		}
	}
}

// ask lets an agent of its own call at the process and waits for the answer.
func (w *world) ask(p *process, e Event) answer {
	time.Sleep(time.Millisecond) // no two calls share an instant
	a := &agent{number: -1, session: p.serve(-1)}
	c := w.call(a, e)
	if c == nil {
		return answer{rpcError: "the process does not run"}
	}
	select {
	case <-c.done:
	case <-time.After(w.schedule.Setup.CallDeadline + time.Minute):
	}
	a.session.leave()
	return c.answer
}

// living returns the processes that run, one for each slot.
func (w *world) living() (all []*process) {
	for slot := range w.schedule.Setup.Processes {
		if p := w.in(slot); p != nil {
			all = append(all, p)
		}
	}
	return all
}

// reads asks every process for what changes nothing.
func (w *world) reads() {
	for _, p := range w.living() {
		for _, e := range []Event{
			{Do: doCall, Tool: toolGet}, {Do: doCall, Tool: toolSearch}, {Do: doCall, Tool: toolHelp}, {Do: doCall, Tool: toolAssign},
		} {
			if got := w.ask(p, e); got.IsError || got.rpcError != "" || got.Structured.ServedBy != "" {
				w.fail("circuits are not stuck", "%s at %s, long after all faults: %s", e.Tool, p.name, got.text())
			}
		}
	}
}

// asked returns the texts that were asked for, as calls.
func (w *world) asked() (all []Event) {
	for ticket := range tickets {
		for text := range texts {
			if slices.ContainsFunc(w.calls, func(c *call) bool {
				return c.event.Tool == toolReply && c.event.Ticket == ticket && c.event.Text == text
			}) {
				all = append(all, Event{Do: doCall, Tool: toolReply, Ticket: ticket, Text: text})
			}
		}
	}
	return all
}

// send asks for a reply until it is told as sent. What may stand between is that a reply in other words was delivered,
// which is told once for each.
func (w *world) send(p *process, e Event) answer {
	var got answer
	for range texts + 2 {
		got = w.ask(p, e)
		switch {
		case got.isDelivered():
		case got.isOpen() && w.schedule.uses(doStore): // a claim whose end could not be written was met just now
			time.Sleep(w.schedule.Setup.SettleAfter + w.schedule.Setup.clocks() + time.Second)
		default:
			return got
		}
	}
	if got.IsError || got.rpcError != "" {
		w.fail("replies get through", "%s at %s, long after all faults: %s", e.callString(), p.name, got.text())
	}
	return got
}

// replies asks once more for every reply.
func (w *world) replies() {
	living := w.living()
	for i, e := range w.asked() {
		w.send(living[i%len(living)], e)
	}
}

// renewals lets every customer write, after which each reply goes out once more, and only once.
func (w *world) renewals() {
	for ticket := range tickets {
		time.Sleep(time.Second)
		w.customerWrites(ticketID(ticket))
	}
	time.Sleep(time.Second)
	living := w.living()
	for i, e := range w.asked() {
		w.sendNew("a reply is new after the customer wrote", living[i%len(living)], e)
		time.Sleep(time.Second)
		again := w.send(living[(i+1)%len(living)], e)
		if !again.IsError && (!again.Meta.Replayed || !again.Structured.AlreadySent) {
			w.fail("a repeat is told as one", "%s at %s was told as sent now, as %s", e.callString(), living[(i+1)%len(living)].name, again.Structured.ReplyID)
		}
	}
}

// window waits until what was sent is no longer the same reply, after which it goes out once more. One reply shows it: what
// comes of the others is for the schedules whose window is short.
func (w *world) window() {
	asked := w.asked()
	if len(asked) == 0 {
		return
	}
	time.Sleep(w.schedule.Setup.Window + w.schedule.Setup.clocks())
	w.sendNew("a reply is new after the window", w.living()[0], asked[0])
}

// sendNew sends a reply that must not be told as a repeat.
func (w *world) sendNew(check string, p *process, e Event) {
	if got := w.send(p, e); !got.IsError && got.Meta.Replayed {
		w.fail(check, "%s at %s was told as sent before, as %s", e.callString(), p.name, got.Structured.ReplyID)
	}
}

// retention waits until everything is forgotten, and looks how much is kept.
func (w *world) retention() {
	time.Sleep(2*w.schedule.Setup.Window + w.schedule.Setup.clocks() + 20*time.Minute)
	for _, p := range w.living() {
		w.send(p, Event{Do: doCall, Tool: toolReply, Text: lastText})
	}
	kept, _ := w.ledger.Memory.Find(context.Background(), idempotency.Query{})
	most := 1
	if w.schedule.Setup.Standby && w.schedule.uses(doStore) { // what a failing store took nevertheless, which memory had instead
		most += len(w.calls)
	}
	if len(kept) > most {
		w.fail("memory is bounded", "%d records are kept after the retention, at most %d are new: %+v", len(kept), most, kept)
	}
	for _, p := range w.processes {
		if p.link.mostNow > 64 {
			w.fail("memory is bounded", "%s had %d connections to Kitebase at once", p.name, p.link.mostNow)
		}
	}
}

// end ends all processes as their hosts do, and counts what they leave behind.
func (w *world) end() {
	for _, a := range w.agents {
		if a.session.open() {
			a.session.leave()
		}
	}
	for _, p := range w.processes {
		p.stop()
	}
	for _, p := range w.processes {
		select {
		case <-p.ended:
		case <-time.After(5 * time.Minute):
			w.fail("no goroutine is left", "%s does not end", p.name)
		}
		p.mu.Lock()
		for _, s := range p.sessions {
			s.sever()
		}
		p.mu.Unlock()
	}
	w.kitebase.close()
	time.Sleep(time.Minute) // requests that are still on their way end
	synctest.Wait()
	if left := bubbled(); len(left) > 1 {
		w.fail("no goroutine is left", "%d are:\n%s", len(left)-1, strings.Join(left, "\n\n"))
	}
}

// bubbled returns the stacks of the goroutines of this bubble.
func bubbled() (stacks []string) {
	all := make([]byte, 1<<20)
	all = all[:runtime.Stack(all, true)]
	mine := make([]byte, 200)
	mine = mine[:runtime.Stack(mine, false)]
	header, _, _ := strings.Cut(string(mine), "\n")
	_, bubble, _ := strings.Cut(header, "synctest bubble ")
	bubble = "synctest bubble " + bubble
	for stack := range strings.SplitSeq(string(all), "\n\n") {
		if header, _, _ := strings.Cut(stack, "\n"); strings.HasSuffix(header, bubble) && !strings.Contains(stack, "testing/synctest.Test.func1()") && !strings.Contains(stack, "testing/synctest.Test(") {
			stacks = append(stacks, stack)
		}
	}
	return stacks
}
