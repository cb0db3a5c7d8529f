package resilience

import (
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/kitebase/kitebase-mcp/idempotency"
)

// Observation is how one call ended, for those who count, trace or audit calls. It holds no argument and no text.
type Observation struct {
	// CallID names the call in all that is recorded about it, see [CallID].
	CallID string
	// Tool is the name of the tool.
	Tool string
	// Kind is why the call failed, "" if it did not. It is [Internal] as well if a handler worded a failure of its own,
	// which has no kind.
	Kind Kind
	// Attempts counts the handler runs, as [MetaAttempts] does.
	Attempts int
	// Outcome is what is known about the effect: Done on every success.
	Outcome idempotency.Outcome
	// Replayed says that the answer is that of an earlier call and nothing was sent.
	Replayed bool
	// RepeatedBy says who made a call again that was recognised: host or model if it is Replayed by the ledger, retry if
	// this call repeated itself and the upstream knew its key, "" if it was no repeat or that is not known.
	RepeatedBy string
	// ServedBy says who answered if not the upstream, "" otherwise.
	ServedBy string
	// Key is the idempotency key that the call was made under, or that of the earlier call if it is Replayed; "" without
	// one, and for a call that was held before it was sent.
	Key string
	// Began is when the layer was entered, Took how long the answer took from there.
	Began time.Time
	Took  time.Duration
	// Queued is how long the call waited before it could begin: from its arrival (see [WithArrival]) to Began, and in the
	// queue of the [Bulkhead]. Trying is how long its attempts took, by [Timeout], without the waits between them.
	Queued, Trying time.Duration
}

// repeatedByRetry is the [Observation.RepeatedBy] of a call whose own retry met what its first attempt had done.
const repeatedByRetry = "retry"

// observation says how the call ended.
func (e *explainer) observation(c *call, end ending, result *mcp.CallToolResult) Observation {
	seen := Observation{
		CallID: c.id, Tool: end.tool, Kind: end.kind, Attempts: end.attempts, Outcome: end.outcome, Key: c.key,
		Began: c.began, Took: time.Since(c.began), Queued: c.queued, Trying: c.trying,
	}
	if meta := result.Meta; meta != nil && len(meta.AdditionalFields) > 1 { // one is the attempts or the error
		seen.Replayed = meta.AdditionalFields[MetaReplayed] == true
		seen.RepeatedBy, _ = meta.AdditionalFields[MetaRepeatedBy].(string)
		seen.ServedBy, _ = meta.AdditionalFields[MetaServedBy].(string)
	}
	if e.echo != nil && end.kind == "" && !seen.Replayed && end.attempts > 1 {
		if _, known := e.echo(result); known {
			seen.RepeatedBy = repeatedByRetry
		}
	}
	return seen
}
