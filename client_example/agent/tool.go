package agent

import (
	"context"
	"encoding/json"
	"time"
)

// Tools is what the model can do. An implementation must be safe for concurrent use: the read-only calls of one turn
// run in parallel.
type Tools interface {
	// List returns the tools on offer. Run asks once, at its start.
	List() []Tool
	// Call runs one call. It must return soon after ctx ends. A failure that the model should read is a [Result] with
	// IsError; an error means that the tool gave no answer at all, in which case only Change and Check of the Result count.
	Call(ctx context.Context, call Call) (Result, error)
}

// Tool describes a tool to the model and to the loop.
type Tool struct {
	Name        string
	Description string
	// InputSchema is a JSON Schema of the input.
	InputSchema json.RawMessage
	// ReadOnly says that calls change nothing, so that the loop may run them in parallel.
	ReadOnly bool
}

// Call is one call of a tool. Its Input is always a JSON object.
type Call struct {
	ToolUse
	// Remaining is the time left to the run, rounded up to whole milliseconds, for a tool that keeps its own deadline;
	// 0 means that the run has none. The context of the call ends a little later ([Config.Grace]).
	Remaining time.Duration
}

// Result is what a tool answers.
type Result struct {
	// Text is for the model.
	Text    string `json:"text"`
	IsError bool   `json:"is_error,omitempty"`
	// Outcome says what became of a change. The zero value means [Done] for a success and [Unknown] for a failure.
	Outcome Outcome `json:"outcome,omitempty"`
	// Change names the change in the words of the report: "a reply was sent: rpl_001" when it is done, "a reply to
	// KITE-142" when it is not known. Default the name of the tool.
	Change string `json:"change,omitempty"`
	// Check says how a person finds out whether the change went through, as an order without a full stop: "read the
	// messages of KITE-142". It is used while the outcome is [Unknown].
	Check string `json:"check,omitempty"`
	// Settles says that this success accounts for earlier calls with the same input too, whose outcome was unknown:
	// because the tool is idempotent, or because it says that the thing was done just once.
	Settles bool `json:"settles,omitempty"`
}

// Outcome says what is known about the effect of a call.
type Outcome string

// The three outcomes of a call that changes something.
const (
	Done    Outcome = "done"
	NotDone Outcome = "not_done"
	Unknown Outcome = "unknown"
)

// outcome returns the outcome of a call that may change something. What is not said of a failure counts as unknown,
// the careful reading.
func (r Result) outcome() Outcome {
	switch {
	case r.Outcome != "":
		return r.Outcome
	case r.IsError:
		return Unknown
	default:
		return Done
	}
}
