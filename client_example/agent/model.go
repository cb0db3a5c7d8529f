package agent

import (
	"context"
	"encoding/json"
	"fmt"
)

// Model is the party that decides. An implementation makes one call to a language model for each Next, with whatever
// repeating of its own that call needs; Run calls it from one goroutine.
type Model interface {
	// Next returns the model's next turn. It must return soon after ctx ends. An error means that no turn could be
	// had, and ends the run as [ModelUnavailable].
	Next(ctx context.Context, request Request) (Turn, error)
}

// Request is what a model gets to see of a run.
type Request struct {
	// Messages is the conversation so far; the last one is the user's. It must not be changed.
	Messages []Message
	// Tools are the tools that the model may call.
	Tools []Tool
	// MaxTokens is the room for the turn, in tokens of the model.
	MaxTokens int
}

// Turn is what the model answers.
type Turn struct {
	Text       string     `json:"text,omitempty"`
	Calls      []ToolUse  `json:"calls,omitempty"`
	StopReason StopReason `json:"stop_reason"`
	// Usage is what the turn cost, as far as the model knows. It counts even when an error comes with the turn.
	Usage Usage `json:"usage"`
	// Raw is the turn in the form of the model's own. The loop does not look into it and hands it back as
	// [Message].Raw: there is more to some turns than text and calls, which the model must get back unchanged.
	Raw json.RawMessage `json:"raw,omitempty"`
}

// StopReason says why the model stopped, in the words of the Messages API. Values that are not listed here exist, and
// more will be invented: they end the run.
type StopReason string

// The stop reasons that the loop acts upon.
const (
	StopEndTurn       StopReason = "end_turn"
	StopSequence      StopReason = "stop_sequence"
	StopToolUse       StopReason = "tool_use"
	StopMaxTokens     StopReason = "max_tokens"
	StopPauseTurn     StopReason = "pause_turn"
	StopRefusal       StopReason = "refusal"
	StopContextWindow StopReason = "model_context_window_exceeded"
)

// check returns an error if the calls of the turn do not fit its stop reason: such a turn has no right answer, because
// each call needs a result, under an id of its own, and a turn that ends or pauses must not leave one behind. The turns that are
// thrown away are not checked.
func (t Turn) check() error {
	switch {
	case t.StopReason == StopToolUse && len(t.Calls) == 0:
		return fmt.Errorf("the turn stopped for %s without a call", t.StopReason)
	case t.StopReason != StopToolUse && len(t.Calls) > 0:
		return fmt.Errorf("the turn stopped for %s with %d calls open", t.StopReason, len(t.Calls))
	}
	seen := make(map[string]bool, len(t.Calls))
	for _, use := range t.Calls {
		if use.ID == "" || seen[use.ID] {
			return fmt.Errorf("the call of %q has the id %q, which is empty or used twice", use.Name, use.ID)
		}
		seen[use.ID] = true
	}
	return nil
}
