// Package delegate hands a task to a sub-loop, and to a lesser one when the first cannot do it. The parent loop asks
// "what fits this ticket?" and gets an answer that says who gave it, or the ticket goes to a person:
//
//	parent ── research ──► Delegate.Do
//	                         │
//	                         ├─► deep-research   Circuit( Retry( Watch( sub-loop ) ) )   several searches, the history
//	                         │        │ failed
//	                         ├─► quick-search    Circuit( Retry( Watch( sub-loop ) ) )   one search: degraded
//	                         │        │ failed
//	                         └─► a person        Exhausted; Run ends with a hand-over
//
// Each layer owns one thing:
//
//	layer     owns                                               stands there because
//	Circuit   not asking a path that keeps failing               outside Retry: one exhausted sequence counts once
//	Retry     silence and bad results, after a jittered wait     outside Watch: each attempt has its own clock
//	Watch     the time between two events; the late result       nearest to the sub-loop
//
// A sub-loop is alive while it talks: each of its events starts the clock anew, so a slow one may take its time and a
// silent one is cancelled after [Config.Stall]. A result counts if it says something and names its sources.
//
// What the server below has tried already is not tried again: an attempt in which a tool failed is never repeated, and
// [Loop] tells each tool to answer before the sub-loop would count as silent.
//
// The smallest use; see the examples for whole ones:
//
//	d, err := delegate.New(delegate.Config{}, delegate.DeepResearch(model, tools), delegate.QuickSearch(model, tools))
//	answer, err := d.Do(ctx, "What fits KITE-142?", nil)
//
// One Delegate is shared by all runs, since the circuits are what the runs tell each other. It does not limit how long a
// sub-loop may talk (its own step limit and the caller's deadline do), it does not run paths side by side, it gives
// sub-loops no tool that changes anything, and it does not add what they cost to the budgets of the parent: each attempt
// has budgets of its own.
package delegate
