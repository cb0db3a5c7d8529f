// Package agent is a guarded loop between a model and its tools. The model takes a turn, the loop runs the tools that
// the turn asks for and hands the results back, until the model ends its last turn or a guard ends the run:
//
//	task ─► deadline? ─► Model.Next ─► stop reason? ─┬─ end_turn, stop_sequence ─► Report: done
//	             ▲                                   ├─ tool_use ─► repeat guard ─► Tools.Call ─┐
//	             │                                   ├─ max_tokens ─► the turn is redone once   │
//	             │                                   └─ anything else ─► Report: handed over    │
//	             └────────────── one user message with one result for each call ◄───────────────┘
//
// Each run ends in a [Report]: why it ended, after how many steps, and what it changed, told by the tools and never by
// the model. A run that did not end by itself has a note for the person who picks it up ([Report.Handover]).
//
// The smallest use is a Model, a Tools and a task; see the example of [Run]:
//
//	report, err := agent.Run(ctx, agent.Job{Task: "Handle KITE-142.", Model: model, Tools: tools}, agent.Config{})
//
// The guards, in the order in which they are asked:
//
//	guard          ends the run as       default
//	step limit     max_steps             8 steps
//	run deadline   deadline              30s, also told to each tool
//	stop reason    refusal, cut_off, …   only end_turn and stop_sequence are success
//	repeat guard   stuck, no_progress    2 failures of a call; 5 equal answers to a call in a row
//
// The loop never retries a tool: whoever serves the tool knows whether that is safe. It knows nothing of how a model or
// a tool is reached, keeps no state between runs, and does not stream.
package agent
