package simulation_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/kitebase/kitebase-mcp/fakeapi"
)

// world is one run of a schedule within a bubble.
type world struct {
	schedule Schedule
	began    time.Time
	kitebase *kitebase
	ledger   *ledger
	clocks   []time.Duration // by slot: how far each is off
	agents   []*agent
	calls    []*call
	customer []customerNote
	over     time.Time // when the events were over and everything worked again

	mu        sync.Mutex
	dice      *rand.Rand
	processes []*process
	history   []string
	failures  []Failure
}

// customerNote is the customer writing.
type customerNote struct {
	ticket string
	at     time.Time
}

// Failure is a check that did not hold.
type Failure struct {
	// Check says what must hold.
	Check string
	// What says what was seen instead.
	What string
}

func (f Failure) String() string { return f.Check + ": " + f.What }

func (w *world) fail(check, format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failures = append(w.failures, Failure{check, fmt.Sprintf(format, args...)})
}

// note adds to the history, which is for people.
func (w *world) note(format string, args ...any) {
	line := fmt.Sprintf("%14s  ", time.Since(w.began)) + fmt.Sprintf(format, args...)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.history = append(w.history, line)
}

// latency is how long the next message takes.
func (w *world) latency() time.Duration {
	most := w.schedule.Setup.Latency
	if most == 0 {
		return 0
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Duration(w.dice.Int64N(int64(most)))
}

func (w *world) add(p *process) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.processes = append(w.processes, p)
}

// named returns the process of that name, nil if there is none.
func (w *world) named(name string) *process {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.processes {
		if p.name == name {
			return p
		}
	}
	return nil
}

// in returns the process that runs in a slot, or nil.
func (w *world) in(slot int) *process {
	for _, p := range slices.Backward(w.processes) {
		if p.slot == slot && p.runs() {
			return p
		}
	}
	return nil
}

// play runs a schedule and returns what did not hold, and what happened. It must be called in a bubble.
func play(schedule Schedule) ([]Failure, []string) {
	w := &world{
		schedule: schedule, began: time.Now(), dice: rand.New(rand.NewPCG(schedule.Seed, 1)),
		clocks: make([]time.Duration, schedule.Setup.Processes),
	}
	w.ledger = newLedger(w)
	var err error
	if w.kitebase, err = newKitebase(w); err != nil {
		panic(err) // the seed data of the fake
	}
	for slot := range schedule.Setup.Processes {
		w.do(Event{Do: doStart, Slot: slot})
	}
	for i := range schedule.Setup.Agents {
		w.agents = append(w.agents, &agent{number: i})
	}
	for _, e := range schedule.Events {
		time.Sleep(e.At - time.Since(w.began))
		w.do(e)
	}
	w.finale()
	w.end()
	w.check()
	return w.failures, w.history
}

// do makes one event happen. Nothing in it takes time.
func (w *world) do(e Event) {
	p := w.in(e.Slot)
	switch e.Do {
	case doCall:
		w.call(w.agents[e.Agent], e)
	case doCancel:
		if a := w.agents[e.Agent]; a.latest != nil && a.session.open() {
			a.session.withdraw(a.latest)
		}
	case doConnect:
		w.connect(w.agents[e.Agent], p)
	case doCrash, doLeave:
		w.part(w.agents[e.Agent], e.Do)
	case doCustomer:
		w.customerWrites(ticketID(e.Ticket))
	case doFault:
		w.fault(e)
	case doClear:
		w.kitebase.ClearFaults()
	case doStart:
		if p == nil {
			if _, err := w.start(e.Slot); err != nil {
				panic(err) // the settings are right
			}
		}
	case doClock:
		w.clocks[e.Slot] = e.By
		if p != nil {
			p.handle.setClock(e.By)
		}
	default:
		if p != nil {
			w.doTo(p, e)
		}
	}
}

// doTo makes an event happen to a process.
func (w *world) doTo(p *process, e Event) {
	switch e.Do {
	case doKill:
		p.arm(e.Point)
	case doStop:
		p.stop()
	case doCut:
		p.link.cut()
	case doPartition:
		p.link.part(e.For)
	case doStore:
		p.handle.setFault(&storeFault{mode: e.Mode, until: time.Now().Add(e.For), left: e.Times, delay: e.By})
	}
}

func (w *world) connect(a *agent, p *process) {
	if p == nil {
		return
	}
	if a.session.open() {
		a.session.leave()
	}
	a.session = p.serve(a.number)
}

// part ends the session of an agent.
func (w *world) part(a *agent, how string) {
	switch {
	case !a.session.open():
	case how == doCrash:
		a.session.crash()
	default:
		a.session.leave()
	}
}

// call lets an agent call; without a session it finds itself a process first. If none runs, nothing happens.
func (w *world) call(a *agent, e Event) *call {
	for i := 0; !a.session.open() && i < w.schedule.Setup.Processes; i++ {
		w.connect(a, w.in((a.number+i)%w.schedule.Setup.Processes))
	}
	if !a.session.open() {
		return nil
	}
	limit := w.schedule.Setup.CallDeadline
	if e.Limit > 0 {
		limit = min(limit, e.Limit)
	}
	c := &call{number: len(w.calls), agent: a.number, event: e, limit: limit, finale: !w.over.IsZero()}
	w.calls = append(w.calls, c)
	a.latest = c
	a.session.begin(c)
	return c
}

func (w *world) customerWrites(ticket string) {
	if err := w.kitebase.CustomerWrites(ticket, "Any news?"); err != nil {
		panic(err) // the ticket is there
	}
	w.customer = append(w.customer, customerNote{ticket, time.Now()})
	w.note("the customer writes to %s", ticket)
}

func (w *world) fault(e Event) {
	operation, fault, err := fakeapi.ParseFault(e.Fault)
	if err == nil && e.Date != 0 {
		fault.RetryAfter = time.Now().Add(w.schedule.Setup.KitebaseClock + e.Date).UTC().Format("Mon, 02 Jan 2006 15:04:05 GMT")
	}
	if err == nil {
		err = w.kitebase.SetFault(operation, fault)
	}
	if err != nil {
		panic("schedule: " + err.Error())
	}
}

func (s Schedule) uses(do ...string) bool {
	return slices.ContainsFunc(s.Events, func(e Event) bool { return slices.Contains(do, e.Do) })
}
