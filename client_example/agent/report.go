package agent

import (
	"slices"
	"strings"
	"time"
)

// Reason says, for machines, how a run ended. Only [EndTurn] and [EndSequence] are success.
type Reason string

// The ways in which a run ends.
const (
	EndTurn          Reason = "end_turn"
	EndSequence      Reason = "stop_sequence"
	MaxSteps         Reason = "max_steps"
	Deadline         Reason = "deadline"
	Stuck            Reason = "stuck"             // calls that had failed were asked for again and again
	NoProgress       Reason = "no_progress"       // a call that brings nothing new was asked for again and again
	CutOffTwice      Reason = "cut_off"           // the turn did not fit, even with twice the room
	Refusal          Reason = "refusal"           // the model declined
	BadTurn          Reason = "bad_turn"          // the turn contradicts itself
	UnexpectedStop   Reason = "unexpected_stop"   // a stop reason that the loop does not act upon
	ModelUnavailable Reason = "model_unavailable" // the model gave no turn
	Canceled         Reason = "canceled"          // the caller's context ended
)

// Report is what came of a run.
type Report struct {
	Reason Reason
	// Why says the same to a person, as the end of a sentence: "the run hit its 8-step limit". Empty on success.
	Why string
	// Text is the last text of the model.
	Text string
	// Steps counts the turns that were begun, the one that ended the run included: a run that runs out of time before
	// its third turn ends in step 3.
	Steps   int
	Elapsed time.Duration
	// Changes is what the tools say that the run changed, in order, each change once.
	Changes []Change
	// Messages is the whole conversation, each call with its result.
	Messages []Message
	// Err is what lies beneath Why, for logs; nil if there is nothing beneath.
	Err error
}

// Change is something that a call changed, or may have changed.
type Change struct {
	Tool string
	What string
	// Confirmed is false while nobody knows whether the change went through.
	Confirmed bool
}

// Succeeded tells whether the model ended the run by itself.
func (r Report) Succeeded() bool { return r.Reason == EndTurn || r.Reason == EndSequence }

// Handover returns the note for the person who picks up a run that did not succeed, in three or four lines. It is made
// from what the tools said alone.
func (r Report) Handover() string {
	var made, open []string
	for _, change := range r.Changes {
		if change.Confirmed {
			made = append(made, change.What)
		} else {
			open = append(open, change.What)
		}
	}
	lines := []string{"I couldn't finish this: " + r.Why + "."}
	switch {
	case len(made) > 0:
		lines = append(lines, "Changes made: "+strings.Join(made, "; ")+".")
	case len(open) > 0:
		lines = append(lines, "Changes made: none that is confirmed.")
	default:
		lines = append(lines, "Changes made: none, nothing was sent to the customer or changed.")
	}
	if len(open) > 0 {
		lines = append(lines, "Not confirmed: "+strings.Join(open, "; ")+". It may have gone through, so check before you repeat it.")
	}
	return strings.Join(append(lines, "A person needs to pick this up."), "\n")
}

// changes collects what the calls of a run changed, each with the canonical form of its call.
type changes struct {
	keys []string
	list []Change
}

// note takes up the outcome of a call. A repeat can settle an unconfirmed change by finding it done. That the repeat did
// nothing settles nothing: it does not say what the first call did.
func (c *changes) note(key string, outcome Outcome, change Change) {
	change.Confirmed = outcome == Done
	if outcome == NotDone || (change.Confirmed && slices.Contains(c.list, change)) {
		return
	}
	for i, known := range c.list {
		if c.keys[i] == key && !known.Confirmed {
			c.list[i] = change
			return
		}
	}
	c.keys, c.list = append(c.keys, key), append(c.list, change)
}
