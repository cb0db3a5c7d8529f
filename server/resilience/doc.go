// Package resilience guards the tools of an MCP server: it repeats what may be repeated, never does twice what must be
// done once, and words every failure so that a model can act on it.
//
// The layers are ordinary mcp-go middleware. [Wrap] puts them around one tool, outermost first:
//
//	Explain( Dedupe( Retry( Timeout( handler ))))
//
//	layer     owns                                     stands there because
//	Explain   the words, panics, the deadline          inside it everything is a Go error; outside it nothing is
//	Dedupe    one run per key, replay, settling        one claim and one key for all attempts of a call
//	Retry     transient failures, Retry-After          each attempt has a clock of its own
//	Timeout   the wait of one attempt                  nearest to the handler
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
// # What it does not do
//
// It does not know what the tools do, keeps no state outside the process unless its [Ledger] does, and never answers
// from a cache.
package resilience
