package simulation_test

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// generate makes the schedule of a seed: the same one each time, and another when this file changes.
//
// Not everything happens in every schedule: each draws which kinds of trouble it has, since troubles hide each other.
// What a sound setting excludes is not generated: Kitebase never works longer than the settle horizon allows for the
// clocks there are, and clocks that are apart by more than a moment come without slow work.
func generate(seed uint64) Schedule {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 0)), slot: -1}
	g.Schedule = Schedule{Seed: seed}
	g.troubles()
	g.setup()
	for n := 6 + g.IntN(34); len(g.Events) < n; {
		g.pass()
		g.next()
	}
	return g.Schedule
}

type generator struct {
	*rand.Rand
	Schedule
	now  time.Duration
	slot int // of a process that was killed and has not been started again, or -1
	text [tickets]int

	faults, kills, cuts, stores, clocks, customers, cancels, partings, forms, limits bool
	tickets                                                                          int
}

func (g *generator) chance(percent int) bool { return g.IntN(100) < percent }

func pick[T any](g *generator, from ...T) T { return from[g.IntN(len(from))] }

// troubles draws which kinds there are.
func (g *generator) troubles() {
	g.faults, g.kills, g.cuts = g.chance(85), g.chance(40), g.chance(25)
	g.stores, g.clocks, g.customers = g.chance(25), g.chance(25), g.chance(50)
	g.cancels, g.partings, g.forms, g.limits = g.chance(40), g.chance(40), g.chance(25), g.chance(35)
	g.tickets = 1 + g.IntN(tickets)
}

func (g *generator) setup() {
	g.Setup = Setup{
		Processes: 1 + g.IntN(3), Agents: 1 + g.IntN(4),
		Keys:     pick(g, KeysHonoured, KeysHonoured, KeysHonoured, KeysIgnored, KeysIgnored, KeysSecret),
		Standby:  g.chance(50),
		Attempts: pick(g, 1, 2, 2, 2, 3), AttemptTimeout: 5 * time.Second, CallDeadline: 25 * time.Second,
		SettleAfter: pick(g, 30*time.Second, 30*time.Second, 12*time.Second),
		Window:      pick(g, 24*time.Hour, 24*time.Hour, 24*time.Hour, 10*time.Minute),
		Threshold:   pick(g, 5, 2, 2, -1), Cooldown: pick(g, 30*time.Second, 4*time.Second),
		RetryBudget: pick(g, 10, -1), Latency: pick(g, 0, 4*time.Millisecond, 60*time.Millisecond),
		AliveLag: pick(g, 0, 0, 3*time.Second), KitebaseClock: pick(g, 0, 0, 90*time.Second, -time.Hour),
	}
	if g.chance(30) {
		g.Setup.AttemptTimeout, g.Setup.CallDeadline = time.Second, 8*time.Second
	}
	if g.clocks {
		g.Setup.Apart = pick(g, 500*time.Millisecond, 2*time.Minute)
	}
	if g.Setup.Keys == KeysSecret && g.stores {
		g.Setup.Standby = false // nothing but the ledger is left to recognise a repeat
	}
	if g.Setup.Standby && g.stores {
		g.forms = false // each form has a key of its own, and only the ledger knows that they are one reply
	}
}

// pass lets time go by. No two events share an instant: each has microseconds of its own.
func (g *generator) pass() {
	switch n := g.IntN(100); {
	case n < 45:
		g.now += time.Duration(g.IntN(60)) * time.Millisecond
	case n < 80:
		g.now += time.Duration(g.IntN(4000)) * time.Millisecond
	case n < 97:
		g.now += time.Duration(4000+g.IntN(36000)) * time.Millisecond
	case g.Setup.Window < time.Hour:
		g.now += g.Setup.Window + 5*time.Minute
	}
}

func (g *generator) add(e Event) {
	e.At = g.now + time.Duration(7*(len(g.Events)+1))*time.Microsecond
	g.Events = append(g.Events, e)
}

// next adds what happens next, and perhaps what belongs to it.
func (g *generator) next() {
	if g.slot >= 0 && g.chance(30) {
		g.add(Event{Do: doStart, Slot: g.slot})
		g.slot = -1
		return
	}
	for _, one := range []struct {
		percent int
		on      bool
		add     func()
	}{
		{24, g.faults, g.addFault},
		{3, g.faults, g.addOutage},
		{3, g.faults, g.addBurst},
		{4, g.faults && g.Setup.Window < time.Hour, g.addLongAgo},
		{7, g.kills, g.addKill},
		{8, g.cuts, g.addCut},
		{9, g.stores, g.addStore},
		{7, g.clocks, g.addClock},
		{9, g.customers, func() { g.add(Event{Do: doCustomer, Ticket: g.IntN(g.tickets)}) }},
		{10, g.cancels, func() { g.add(Event{Do: doCancel, Agent: g.IntN(g.Setup.Agents)}) }},
		{8, g.partings, g.addParting},
	} {
		if one.on && g.chance(one.percent) {
			one.add()
			return
		}
	}
	g.addCall()
}

func (g *generator) addCall() {
	e := Event{Do: doCall, Agent: g.IntN(g.Setup.Agents), Ticket: g.IntN(g.tickets)}
	e.Tool = pick(g, toolReply, toolReply, toolReply, toolReply, toolReply, toolReply, toolReply, toolReply, toolGet, toolSearch, toolAssign, toolHelp)
	if g.limits && g.chance(30) {
		e.Limit = pick(g, time.Millisecond, 50*time.Millisecond, 700*time.Millisecond, 3*time.Second, 9*time.Second)
	}
	if e.Tool != toolReply {
		e.Text = g.IntN(2)
		g.add(e)
		return
	}
	if g.chance(35) {
		g.text[e.Ticket] = g.IntN(texts)
	}
	e.Text = g.text[e.Ticket]
	if g.forms && g.chance(40) {
		e.Form = g.IntN(forms)
	}
	if g.chance(40) {
		e.CallID = pick(g, "toolu_1", "toolu_2")
	}
	g.add(e)
	if g.chance(15) { // the same at the same time, by somebody else
		e.Agent = g.IntN(g.Setup.Agents)
		g.now += time.Duration(g.IntN(3)) * time.Millisecond
		g.add(e)
	}
}

// addFault breaks Kitebase for some requests, or mends it.
func (g *generator) addFault() {
	if g.chance(15) {
		g.add(Event{Do: doClear})
		return
	}
	operation := pick(g, toolReply, toolReply, toolReply, toolReply, toolReply, toolGet, toolGet, "*", toolSearch, toolAssign)
	e := Event{Do: doFault}
	e.Fault, e.Date = g.fault(operation)
	g.add(e)
	if operation != "*" && g.chance(25) { // what comes after the first one is used up
		after := Event{Do: doFault}
		after.Fault, after.Date = g.fault("*")
		g.add(after)
	}
}

// addOutage lets a tool fail until its circuit opens, and gives the probe after the cooldown an ending that says nothing: too
// many requests, or a caller who leaves or has no time.
func (g *generator) addOutage() {
	call := Event{Do: doCall, Agent: g.IntN(g.Setup.Agents), Tool: pick(g, toolGet, toolSearch, toolReply, toolReply), Ticket: g.IntN(g.tickets)}
	g.add(Event{Do: doFault, Fault: "*=" + pick(g, "status=503", "drop", "stall")})
	for range max(2, g.Setup.Threshold) + g.IntN(2) {
		call.Text = g.IntN(texts)
		g.add(call)
		g.now += time.Duration(g.Int64N(int64(2 * g.Setup.AttemptTimeout))).Truncate(time.Millisecond)
	}
	g.now += g.Setup.CallDeadline + g.Setup.Cooldown
	probe := call
	switch g.IntN(3) {
	case 0:
		g.add(Event{Do: doFault, Fault: "*=status=429"})
		g.add(probe)
	case 1:
		probe.Limit = 30 * time.Millisecond
		g.add(Event{Do: doFault, Fault: "*=hang"})
		g.add(probe)
	default:
		g.add(Event{Do: doFault, Fault: "*=hang"})
		g.add(probe)
		g.now += 20 * time.Millisecond
		g.add(Event{Do: doCancel, Agent: probe.Agent})
	}
	g.now += 30 * time.Second
	g.add(Event{Do: doClear})
}

// reply is the latest reply to a ticket, once more.
func (g *generator) reply() Event {
	ticket := g.IntN(g.tickets)
	return Event{Do: doCall, Agent: g.IntN(g.Setup.Agents), Tool: toolReply, Ticket: ticket, Text: g.text[ticket]}
}

// addBurst lets several replies lose their answers at the same time.
func (g *generator) addBurst() {
	g.add(Event{Do: doFault, Fault: toolReply + "=" + pick(g, "lose:4", "fail_after_commit:4", "garble:6", "hang:4")})
	call := g.reply()
	for range 2 + g.IntN(2) {
		call.Text, call.Ticket = g.IntN(texts), g.IntN(g.tickets)
		g.add(call)
		g.now += time.Duration(g.IntN(3)) * time.Millisecond
	}
}

// addLongAgo asks for a reply again when the ledger has forgotten it, and loses the answers.
func (g *generator) addLongAgo() {
	call := g.reply()
	g.add(call)
	g.now += 2*g.Setup.Window + 12*time.Minute
	g.add(Event{Do: doFault, Fault: fmt.Sprintf("%s=lose:%d", toolReply, 1+g.IntN(3))})
	g.add(call)
}

// fault draws a fault as ParseFault reads it, and for Retry-After as a date how far that is ahead.
func (g *generator) fault(operation string) (spec string, date time.Duration) {
	kind := pick(g, "drop", "hang", "lose", "lose", "garble", "truncate", "stall", "redirect", "fail_after_commit", "slow", "slow", "status", "status", "status")
	switch kind {
	case "slow":
		most := g.Setup.slowest()
		if most < 2*time.Second {
			kind = "lose"
			break
		}
		delay := time.Duration(g.IntN(1200)+1) * time.Millisecond
		if g.chance(60) {
			delay = time.Duration(g.Int64N(int64(most))).Round(time.Millisecond) + time.Millisecond
		}
		kind = fmt.Sprintf("slow=%s", delay)
	case "redirect":
		kind = pick(g, "redirect", "redirect=307")
	case "status":
		status := pick(g, 400, 401, 403, 404, 404, 408, 409, 422, 425, 429, 429, 429, 500, 502, 503, 503, 503, 202)
		kind = fmt.Sprintf("status=%d", status)
		if (status == 429 || status == 503) && g.chance(75) {
			if g.chance(25) || g.Setup.KitebaseClock != 0 && g.chance(60) {
				date = pick(g, 2*time.Second, 6*time.Second, -time.Minute)
			} else {
				kind += ",retry-after=" + pick(g, "1", "2", "3", "7", "30", "0", "-1", "1.5", "soon", "9223372036854775807")
			}
		}
	}
	switch n := g.IntN(10); {
	case n < 6:
		return fmt.Sprintf("%s=%s:%d", operation, kind, pick(g, 1, 1, 1, 2, 3)), date
	case n < 9:
		return fmt.Sprintf("%s=%s,probability=0.5,seed=%d:%d", operation, kind, g.IntN(1000), 1+g.IntN(4)), date
	}
	return operation + "=" + kind, date
}

func (g *generator) addKill() {
	slot := g.IntN(g.Setup.Processes)
	if g.chance(15) {
		g.add(Event{Do: doStop, Slot: slot})
	} else {
		g.add(Event{Do: doKill, Slot: slot, Point: pick(g, pointNow, pointClaimBefore, pointClaimAfter, pointArrive, pointArrive,
			pointWorked, pointWorked, pointRecordBefore, pointRecordBefore, pointRecordAfter)})
	}
	g.slot = slot
	if g.chance(25) { // in the middle of a call, and started again before anybody can have noticed
		g.add(g.reply())
		g.now += time.Duration(g.IntN(200)) * time.Millisecond
		g.add(Event{Do: doStart, Slot: slot})
		g.slot = -1
	}
}

func (g *generator) addCut() {
	slot := g.IntN(g.Setup.Processes)
	if g.chance(50) {
		g.add(Event{Do: doCut, Slot: slot})
		return
	}
	g.add(Event{Do: doPartition, Slot: slot, For: time.Duration(1+g.IntN(90_000)) * time.Millisecond})
}

func (g *generator) addStore() {
	e := Event{Do: doStore, Slot: g.IntN(g.Setup.Processes), Times: 1 + g.IntN(3), For: time.Duration(1+g.IntN(60)) * time.Second}
	e.Mode = pick(g, storeBefore, storeAfter, storeAfter, storeSlow, storeDown)
	if e.Mode == storeSlow {
		e.By = pick(g, 20*time.Millisecond, 400*time.Millisecond, 2*time.Second)
	}
	g.add(e)
}

func (g *generator) addClock() {
	e := Event{Do: doClock, Slot: g.IntN(g.Setup.Processes)}
	e.By = time.Duration(g.Int64N(int64(2*g.Setup.Apart))) - g.Setup.Apart
	g.add(e)
}

func (g *generator) addParting() {
	agent := g.IntN(g.Setup.Agents)
	switch g.IntN(4) {
	case 0:
		g.add(Event{Do: doCrash, Agent: agent})
	case 1:
		g.add(Event{Do: doLeave, Agent: agent})
	default:
		g.add(Event{Do: doConnect, Agent: agent, Slot: g.IntN(g.Setup.Processes)})
	}
}
