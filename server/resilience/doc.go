// Package resilience guards the tools of an MCP server: it repeats what may be repeated, never does twice what must be
// done once, and words every failure so that a model can act on it.
//
// The layers are ordinary mcp-go middleware. [Wrap] puts them around one tool, outermost first:
//
//	Explain( RepeatGuard( Dedupe( Fallback( Bulkhead( Circuit( Retry( Timeout( handler ))))))))
//
//	layer        owns                                     stands there because
//	Explain      the words, panics, the deadline          inside it everything is a Go error; outside it nothing is
//	RepeatGuard  not running what cannot succeed          a blocked call costs nothing below
//	Dedupe       one run per key, replay, settling        one claim and one key for all attempts; what was sent is told
//	                                                      while the circuit is open
//	Fallback     a degraded answer, tagged as one         reads only; serves while the circuit is open
//	Bulkhead     calls under way per tool                 being full says nothing about the upstream
//	Circuit      not calling what is down                 one failed call counts once; a refusal is never retried
//	Retry        transient failures, Retry-After          each attempt has a clock of its own
//	Timeout      the wait of one attempt                  nearest to the handler
//
// Explain, Retry and Timeout are always there. The others are there if the policy asks for them: by a config of their own,
// or, since it is shared by all calls of a tool, by a [Circuit], and since it is shared by all tools, by a [RetryBudget].
// (Beside Dedupe stands [Record], for writes that are harmless to repeat.)
//
// The tool's annotations are the contract: a call is repeated only if the tool is read-only, idempotent, or keyed
// ([Policy.Keyed]).
//
//	guarded, err := resilience.Wrap(tool, resilience.Policy{Upstream: "Kitebase"})
//	server.AddTools(guarded)
//
// # What a handler owes
//
// A handler returns when its context ends; no goroutine is left behind for one that does not. It returns Go errors, not
// results with isError, and its errors may say more by having any of these methods, which are looked up with errors.As:
//
//	Kind() string                     which kind of failure, see [Kind]
//	Retryable() bool                  may a repeat help?
//	RetryAfter() time.Duration        the wait that the upstream asked for, 0 for none
//	Outcome() idempotency.Outcome     did the effect happen?
//	Reason() string                   a phrase that a model may read
//	Refused() bool                    the handler refused before anything went out
//
// [Failure] has them all. An error with none of them is a bug of the handler: it is answered as an internal fault whose
// outcome is unknown, is not repeated, and its text is logged, never shown.
//
// # Writes
//
// A tool that is not read-only is finished once it has started: the cancellation of the caller does not reach it, only
// the deadline of the call does. A write whose outcome is unknown is told as such, whatever came after it.
//
// # An outage
//
// Retry is for blips, the circuit for minutes. What a call counts for, in the circuit and in the budget:
//
//	how it ended                                                   circuit     budget, for each attempt
//	success; not_found, invalid, conflict, key_reused, denied      an answer   +0.1
//	unavailable, bad_answer, timeout of ours                       a failure   -1
//	misconfigured                                                  a failure   nothing
//	rate_limited                                                   nothing     -1
//	in_progress, held, busy, internal (a bug, a panic)             nothing     nothing
//	canceled, and whatever ends after the caller has left          nothing     nothing
//	a timeout that only the caller's own deadline made             nothing     nothing
//	what the handler refused before anything went out              nothing     nothing
//
// Five failures in a row open a circuit; nothing neither adds to the row nor ends it. For 30s calls are refused at once,
// then one is let through as the probe: by a failure the circuit opens again, by an answer it closes, and after nothing
// the next call is the probe. docs/resilience.md has worked timelines.
//
// # What it does not do
//
// It does not know what the tools do, keeps no state outside the process unless its ledger does, and never answers
// from a copy before the upstream was asked or its circuit was found open.
package resilience
