package agent

import "time"

// Reason says, for machines, how a run ended. Only [EndTurn] and [EndSequence] are success.
type Reason string

// The ways in which a run ends.
const (
	EndTurn          Reason = "end_turn"
	EndSequence      Reason = "stop_sequence"
	MaxSteps         Reason = "max_steps"
	Deadline         Reason = "deadline"
	TokenBudget      Reason = "token_budget"
	CostBudget       Reason = "cost_budget"
	Stuck            Reason = "stuck"             // calls that had failed were asked for again and again
	NoProgress       Reason = "no_progress"       // a call that brings nothing new was asked for again and again
	CutOffTwice      Reason = "cut_off"           // the turn did not fit, even with twice the room
	Refusal          Reason = "refusal"           // the model declined
	Paused           Reason = "paused"            // the model interrupted its turn again and again
	ContextWindow    Reason = "context_window"    // the conversation has become too long
	BadTurn          Reason = "bad_turn"          // the turn contradicts itself
	UnexpectedStop   Reason = "unexpected_stop"   // a stop reason that the loop does not act upon
	ModelUnavailable Reason = "model_unavailable" // the model gave no turn
	JournalFailed    Reason = "journal_failed"    // a step could not be written down
	Canceled         Reason = "canceled"          // the caller's context ended
)

// Report is what came of a run.
type Report struct {
	Reason Reason
	// StopReason is that of the last turn, raw; empty if there was none.
	StopReason StopReason
	// Why says the same to a person, as the end of a sentence: "the run hit its 8-step limit". Empty on success.
	Why string
	// Text is the last text of the model.
	Text string
	// Steps counts the turns that were begun, the one that ended the run included: a run that runs out of time before
	// its third turn ends in step 3.
	Steps   int
	Elapsed time.Duration
	// Usage is what the model says that all turns cost, those included that were cut off.
	Usage Usage
	// Changes is what the tools say that the run changed, in order, each change once.
	Changes []Change
	// Messages is the whole conversation, each call with its result.
	Messages []Message
	// Err is what lies beneath Why, for logs; nil if there is nothing beneath.
	Err error
}

// Succeeded tells whether the model ended the run by itself.
func (r Report) Succeeded() bool { return r.Reason == EndTurn || r.Reason == EndSequence }
