package delegate

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/kitebase/kitebase-mcp/client_example/agent"
)

// researchTool is how the model gets to know of it.
var researchTool = agent.Tool{
	Name: Research,
	Description: "Find out what fits a ticket: help articles, earlier tickets and how they ended. Returns a summary with its sources. " +
		"If the result has a note, tell it in your answer. Changes nothing.",
	InputSchema: json.RawMessage(`{"type":"object","properties":{"question":{"type":"string","description":"What to find out, with the ticket's id."}},"required":["question"],"additionalProperties":false}`),
	ReadOnly:    true,
}

// desk is the tools of a run, with research among them.
type desk struct {
	agent.Tools
	delegate *Delegate
	hear     func(Event)
	stop     context.CancelCauseFunc // ends the run

	mu        sync.Mutex
	answers   []Answer
	exhausted *Exhausted
}

// List returns the tools of the run and research.
func (d *desk) List() []agent.Tool { return append(slices.Clip(d.Tools.List()), researchTool) }

// Call does research itself and passes any other call on.
func (d *desk) Call(ctx context.Context, call agent.Call) (agent.Result, error) {
	if call.Name != Research {
		return d.Tools.Call(ctx, call)
	}
	var in struct {
		Question string `json:"question"`
	}
	if err := json.Unmarshal(call.Input, &in); err != nil || strings.TrimSpace(in.Question) == "" {
		return agent.Result{Text: "Error: research was not run: it needs a question, as text.", IsError: true, Outcome: agent.NotDone}, nil
	}
	if call.Remaining > 0 { // the context ends later: that time is for saying how it went
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, call.Remaining)
		defer cancel()
	}
	answer, err := d.delegate.Do(ctx, in.Question, d.hear)
	if err == nil {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.answers = append(d.answers, answer)
		return agent.Result{Text: answer.text()}, nil
	}
	// Not errors.As: what ended ctx may have been another call's exhaustion.
	exhausted, ok := err.(*Exhausted)
	if !ok {
		return agent.Result{}, fmt.Errorf("research: %w", err)
	}
	d.mu.Lock()
	d.exhausted = cmp.Or(d.exhausted, exhausted)
	d.mu.Unlock()
	d.stop(exhausted)
	return agent.Result{Text: fmt.Sprintf("Error: research failed on every path: %s. A person needs to pick this up.", list(exhausted.Failures)), IsError: true}, nil
}

// text is the answer for a model: the note, if there is one, and a JSON object that has it too.
func (a Answer) text() string {
	object := struct {
		ServedBy string `json:"served_by"`
		Finding
		Note string `json:"note,omitempty"`
	}{a.ServedBy, a.Finding, a.Note()}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(object) // strings can always be encoded
	return strings.TrimSpace(object.Note + "\n" + text.String())
}
