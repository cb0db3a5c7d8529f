package simulation_test

import (
	"fmt"
	"strings"
	"time"
)

// Schedule is everything that is done to the world in one run, and the world that it is done to.
type Schedule struct {
	// Seed is where it was generated from.
	Seed uint64 `json:"seed"`
	// Setup is the world.
	Setup Setup `json:"setup"`
	// Events are in the order of their times, of which no two are the same.
	Events []Event `json:"events"`
}

// Keys says what Kitebase does with Idempotency-Key and what the servers were told about it.
type Keys string

const (
	KeysHonoured Keys = "honoured"
	KeysIgnored  Keys = "ignored"           // and the servers know it
	KeysSecret   Keys = "ignored in secret" // and nobody has told the servers
)

// Setup is the world of a schedule. Times are in nanoseconds, as Go writes them.
type Setup struct {
	Processes      int           `json:"processes"`
	Agents         int           `json:"agents"`
	Keys           Keys          `json:"keys"`
	Standby        bool          `json:"standby"` // each process keeps records in memory while the store fails, as the command does
	Attempts       int           `json:"attempts"`
	AttemptTimeout time.Duration `json:"attempt_timeout"`
	CallDeadline   time.Duration `json:"call_deadline"`
	SettleAfter    time.Duration `json:"settle_after"`
	Window         time.Duration `json:"window"`
	Threshold      int           `json:"threshold"`
	Cooldown       time.Duration `json:"cooldown"`
	RetryBudget    int           `json:"retry_budget"`
	Latency        time.Duration `json:"latency"`        // the most that a message to Kitebase or to the store takes
	AliveLag       time.Duration `json:"alive_lag"`      // how long a dead owner seems to live
	Apart          time.Duration `json:"apart"`          // how far the clock of a process may be off, either way
	KitebaseClock  time.Duration `json:"kitebase_clock"` // how far the Date of Kitebase is off
}

// clocks is how far the clocks of two processes may differ.
func (s Setup) clocks() time.Duration { return 2 * s.Apart }

// lease is how long a claim lasts.
func (s Setup) lease() time.Duration { return max(time.Minute, 2*s.CallDeadline) }

// slowest is the longest that Kitebase may work on a reply without breaking its word: what cannot be found after
// SettleAfter was not sent.
func (s Setup) slowest() time.Duration {
	return max(0, s.SettleAfter-s.clocks()-2*s.Latency-time.Second)
}

// look is the longest that a process may take to ask its store whether a claim still stands, which it does last before a request.
func (s Schedule) look() time.Duration {
	longest := 2 * s.Setup.Latency
	for _, event := range s.Events {
		if event.Do == doStore {
			longest = max(longest, 2*(s.Setup.Latency+event.By))
		}
	}
	return longest
}

// String lists what is not as it is by default.
func (s Setup) String() string {
	text := fmt.Sprintf("%d process(es), %d agent(s), keys %s, %d attempt(s) of %s in %s, settled after %s, window %s, circuit %d/%s",
		s.Processes, s.Agents, s.Keys, s.Attempts, s.AttemptTimeout, s.CallDeadline, s.SettleAfter, s.Window, s.Threshold, s.Cooldown)
	for _, also := range []struct {
		is   bool
		text string
	}{
		{s.Standby, "standby"},
		{s.RetryBudget < 0, "no retry budget"},
		{s.Latency > 0, "latency up to " + s.Latency.String()},
		{s.AliveLag > 0, "dead owners seem alive for " + s.AliveLag.String()},
		{s.Apart > 0, "clocks off by up to " + s.Apart.String()},
		{s.KitebaseClock != 0, "Kitebase's Date off by " + s.KitebaseClock.String()},
	} {
		if also.is {
			text += ", " + also.text
		}
	}
	return text
}

// What an event does.
const (
	doCall      = "call"      // Agent calls Tool
	doCancel    = "cancel"    // Agent cancels its latest call
	doConnect   = "connect"   // Agent leaves its process and connects to that in Slot
	doCrash     = "crash"     // Agent dies: both its pipes break
	doLeave     = "leave"     // Agent closes its end but still reads
	doCustomer  = "customer"  // the customer of Ticket writes
	doFault     = "fault"     // Kitebase gets Fault
	doClear     = "clear"     // Kitebase has no faults any more
	doKill      = "kill"      // the process in Slot dies at Point
	doStop      = "stop"      // the process in Slot is asked to end
	doStart     = "start"     // a new process starts in Slot if none lives there
	doCut       = "cut"       // the connections of Slot to Kitebase break
	doPartition = "partition" // Slot cannot dial Kitebase For a while
	doStore     = "store"     // the store handle of Slot goes wrong by Mode
	doClock     = "clock"     // the clock of Slot is set to be off By
)

// Event is one step. Which fields count depends on Do.
type Event struct {
	At     time.Duration `json:"at"`
	Do     string        `json:"do"`
	Agent  int           `json:"agent,omitempty"`
	Slot   int           `json:"slot,omitempty"`
	Tool   string        `json:"tool,omitempty"`
	Ticket int           `json:"ticket,omitempty"`
	Text   int           `json:"text,omitempty"`
	Form   int           `json:"form,omitempty"`  // how the same text is written: line ends, accents, space around it
	Limit  time.Duration `json:"limit,omitempty"` // what the caller says that it will wait
	CallID string        `json:"call_id,omitempty"`
	Fault  string        `json:"fault,omitempty"` // as for fakeapi.ParseFault
	Date   time.Duration `json:"date,omitempty"`  // Retry-After as a date so far ahead
	Point  string        `json:"point,omitempty"`
	Mode   string        `json:"mode,omitempty"`
	For    time.Duration `json:"for,omitempty"`
	Times  int           `json:"times,omitempty"`
	By     time.Duration `json:"by,omitempty"`
}

// The points at which a process can die.
const (
	pointNow          = "now"
	pointClaimBefore  = "before its next claim is stored"
	pointClaimAfter   = "after its next claim is stored"
	pointArrive       = "when its next reply reaches Kitebase"
	pointWorked       = "when its next reply was sent, before the answer"
	pointRecordBefore = "before its next outcome is stored"
	pointRecordAfter  = "after its next outcome is stored"
)

// The ways in which a store handle goes wrong.
const (
	storeBefore = "fails before taking effect"
	storeAfter  = "fails after taking effect"
	storeSlow   = "is slow"
	storeDown   = "is unavailable"
)

// String tells the step as a sentence.
func (e Event) String() string {
	who := fmt.Sprintf("agent %d", e.Agent)
	slot := fmt.Sprintf("process %d", e.Slot)
	switch e.Do {
	case doCall:
		return who + " calls " + e.callString()
	case doCancel:
		return who + " cancels its latest call"
	case doConnect:
		return who + " connects to " + slot
	case doCrash:
		return who + " crashes"
	case doLeave:
		return who + " closes its end and reads on"
	case doCustomer:
		return "the customer writes to " + ticketID(e.Ticket)
	case doFault:
		if e.Date != 0 {
			return fmt.Sprintf("Kitebase: %s, Retry-After: a date %s ahead", e.Fault, e.Date)
		}
		return "Kitebase: " + e.Fault
	case doClear:
		return "Kitebase: no faults"
	case doKill:
		return slot + " is killed " + e.Point
	case doStop:
		return slot + " is asked to end"
	case doStart:
		return slot + " starts if it does not run"
	case doCut:
		return "the connections of " + slot + " to Kitebase break"
	case doPartition:
		return fmt.Sprintf("%s cannot connect to Kitebase for %s", slot, e.For)
	case doStore:
		return fmt.Sprintf("the store of %s %s (%s, %d times at most)", slot, e.Mode, e.For, e.Times)
	case doClock:
		return fmt.Sprintf("the clock of %s is off by %s", slot, e.By)
	}
	return e.Do
}

func (e Event) callString() string {
	switch e.Tool {
	case toolReply:
		text := fmt.Sprintf("%s %s, text %c", e.Tool, ticketID(e.Ticket), 'A'+rune(e.Text))
		if e.Form > 0 {
			text += fmt.Sprintf(" in form %d", e.Form)
		}
		if e.Limit > 0 {
			text += ", waiting " + e.Limit.String()
		}
		if e.CallID != "" {
			text += ", call id " + e.CallID
		}
		return text
	case toolAssign, toolGet:
		return e.Tool + " " + ticketID(e.Ticket)
	}
	return e.Tool
}

// String tells the schedule as readable steps with their times.
func (s Schedule) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d: %s\n", s.Seed, s.Setup)
	for _, e := range s.Events {
		fmt.Fprintf(&b, "%14s  %s\n", e.At, e)
	}
	return b.String()
}
