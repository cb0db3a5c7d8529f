// Package agent is a guarded loop between a model and its tools. The model takes a turn, the loop runs the tools that
// the turn asks for and hands the results back, until the model ends its last turn or a guard ends the run:
//
//	task ─► time? budget? ─► Model.Next ─► stop reason? ─┬─ end_turn, stop_sequence ─► Report: done
//	             ▲                                       ├─ tool_use ─► repeat guard ─► Tools.Call ─┐
//	             │                                       ├─ max_tokens ─► the turn is redone once   │
//	             │                                       ├─ pause_turn ─► the turn goes on          │
//	             │                                       └─ anything else ─► Report: handed over    │
//	             └──────────────── one user message with one result for each call ◄─────────────────┘
//
// Each run ends in a [Report]: why it ended, after how many steps, and what it changed, told by the tools and never by
// the model. A run that did not end by itself has a note for the person who picks it up ([Report.Handover]).
//
// The smallest use is a Model, a Tools and a task; see the example of [Run]:
//
//	report, err := agent.Run(ctx, agent.Job{Task: "Handle KITE-142.", Model: model, Tools: tools}, agent.Config{})
//
// The guards, in the order in which they are asked, and the fields of [Config] that set them:
//
//	guard          ends the run as                default
//	step limit     max_steps                      MaxSteps: 8
//	run deadline   deadline                       Deadline: 30s, also told to each tool
//	budgets        token_budget, cost_budget      TokenBudget: 200,000; CostBudgetUSD: 1
//	cut-off        cut_off                        MaxTokens: 1024, redone once with twice as much
//	pauses         paused                         MaxPauses: 3 in a row
//	stop reason    refusal, context_window, …     only end_turn and stop_sequence are success
//	repeat guard   stuck                          MaxFailures: 2 of the same call
//	progress       no_progress                    MaxRepeats: 5 equal answers to a call in a row
//
// A run can be kept in a [Journal], step by step, so that another process goes on with it after a crash.
//
// The loop never retries a tool: whoever serves the tool knows whether that is safe. It knows nothing of how a model or
// a tool is reached, keeps no other state between runs, and does not stream.
package agent
