package delegate

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kitebase/kitebase-mcp/client_example/agent"
)

// Loop is a sub-loop that is an agent: [Loop.Run] is a [SubLoop]. Its model must end with a JSON object that has the
// members of a [Finding], and may cite only what its tools brought.
type Loop struct {
	// Model must be safe for concurrent use: each task is a run of its own, but all ask the same model.
	Model agent.Model
	// Tools are offered as far as they only read: a loop that may be run again must not change anything.
	Tools agent.Tools
	// Names are the tools to offer. Default all that only read.
	Names []string
	// Instructions come before the task. Default none.
	Instructions string
	// Config holds the limits of the run. Its Deadline is never later than the caller's, and its OnEvent is not used.
	Config agent.Config
}

// format tells the model how to end.
const format = `End with one JSON object and nothing else: {"summary": "what you found out", "sources": ["ids of the articles and tickets that it rests on"]}`

// Run works on the task of the order. The error wraps [ErrBadResult] if the model ended without a finding, or with one
// that cites what no tool brought.
func (l Loop) Run(ctx context.Context, order Order) (Finding, error) {
	cfg := l.Config
	cfg.OnEvent = order.Tell
	if end, ok := ctx.Deadline(); ok {
		if left := max(1, time.Until(end)); cfg.Deadline <= 0 || left < cfg.Deadline {
			cfg.Deadline = left
		}
	}
	job := agent.Job{
		Task:  strings.TrimSpace(l.Instructions + "\n" + order.Task + "\n" + format),
		Model: l.Model,
		Tools: reading{l.Tools, l.Names, order.Patience},
	}
	report, err := agent.Run(ctx, job, cfg)
	if err != nil {
		return Finding{}, fmt.Errorf("start the sub-loop: %w", err)
	}
	if !report.Succeeded() {
		return Finding{}, brokenOff{report}
	}
	return finding(report)
}

// finding reads the model's last text. What stands around the object is left out, since models like to fence it.
func finding(report agent.Report) (Finding, error) {
	first, last := strings.Index(report.Text, "{"), strings.LastIndex(report.Text, "}")
	var f Finding
	if first < 0 || last < first || json.Unmarshal([]byte(report.Text[first:last+1]), &f) != nil {
		return Finding{}, badResult("an answer that is no finding")
	}
	for _, source := range f.Sources {
		if !brought(report.Messages, source) {
			return Finding{}, badResult("a source named that no tool brought")
		}
	}
	return f, nil
}

// brought tells whether a tool named the source, as a JSON string.
func brought(messages []agent.Message, source string) bool {
	return slices.ContainsFunc(messages, func(message agent.Message) bool {
		return slices.ContainsFunc(message.Results, func(result agent.ToolResult) bool {
			return !result.IsError && strings.Contains(result.Text, `"`+source+`"`)
		})
	})
}

// brokenOff is the error of a run that a guard ended. The report words it for people.
type brokenOff struct{ report agent.Report }

func (b brokenOff) Error() string  { return fmt.Sprintf("the sub-loop ended with %s", b.report.Reason) }
func (b brokenOff) Reason() string { return b.report.Why }
func (b brokenOff) Unwrap() error  { return b.report.Err }

// reading offers tools as far as they only read.
type reading struct {
	tools    agent.Tools
	names    []string
	patience time.Duration
}

// List returns the tools on offer.
func (r reading) List() []agent.Tool {
	return slices.DeleteFunc(slices.Clone(r.tools.List()), func(tool agent.Tool) bool {
		return !tool.ReadOnly || r.names != nil && !slices.Contains(r.names, tool.Name)
	})
}

// Call tells the tool to answer before the loop would count as silent. The server below then gives up by itself, as a
// tool that failed; cancelled from above it would look like a loop worth another attempt. The loop never asks for a tool
// that is not listed.
func (r reading) Call(ctx context.Context, call agent.Call) (agent.Result, error) {
	if limit := r.patience / 10 * 9; limit > 0 && (call.Remaining == 0 || limit < call.Remaining) {
		call.Remaining = max(limit, time.Millisecond)
	}
	return r.tools.Call(ctx, call)
}
