package resilience

import (
	"maps"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/kitebase/kitebase-mcp/idempotency"
)

// The fields of a result's _meta. They are for programs; models do not see them.
const (
	// MetaError holds an [ErrorInfo]; on results with isError only.
	MetaError = "io.kitebase/error"
	// MetaAttempts holds the number of handler runs of this call; on successes only.
	MetaAttempts = "io.kitebase/attempts"
	// MetaReplayed is true on a result of an earlier call that was not run again.
	MetaReplayed = "io.kitebase/replayed"
	// MetaRepeatedBy says who repeated a replayed call: host or model.
	MetaRepeatedBy = "io.kitebase/repeated_by"
	// MetaServedBy says who answered if not the upstream, MetaAsOf of when that answer is (RFC 3339).
	MetaServedBy = "io.kitebase/served_by"
	MetaAsOf     = "io.kitebase/as_of"
)

// ErrorInfo is what `_meta["io.kitebase/error"]` tells a program about a failed call.
type ErrorInfo struct {
	// Kind sorts the failure.
	Kind Kind `json:"kind"`
	// Attempts counts the handler runs of this call; 0 means that the upstream was not asked.
	Attempts int `json:"attempts"`
	// ModelCanFix says that the same call with other input may succeed.
	ModelCanFix bool `json:"model_can_fix"`
	// Next is what may help: change_input, other_tool, wait, check or person.
	Next string `json:"next"`
	// RetryAfterMS is the wait in milliseconds that was asked for, 0 if none was.
	RetryAfterMS int64 `json:"retry_after_ms"`
	// Outcome is done, not_done or unknown.
	Outcome string `json:"outcome"`
}

func (k Kind) modelCanFix() bool { return k == Invalid || k == NotFound || k == Conflict }

// next returns what may help. An unknown outcome is to be checked before anything else.
func (e ending) next() string {
	if e.write && e.outcome == idempotency.Unknown {
		return "check"
	}
	switch e.kind {
	case Invalid, NotFound, Conflict:
		return "change_input"
	case Held, KeyReused:
		return "check"
	case RateLimited, InProgress, Canceled, Busy:
		return "wait"
	case Unavailable, TimedOut, BadAnswer, CircuitOpen:
		if e.write {
			return "wait" // no other tool can do it, and it certainly was not done
		}
		return "other_tool"
	default:
		return "person"
	}
}

// withMeta returns result with one more field in its _meta. It is a copy: a handler may return the same result to many.
func withMeta(result *mcp.CallToolResult, name string, value any) *mcp.CallToolResult {
	with := &struct { // one piece of memory for both
		result mcp.CallToolResult
		meta   mcp.Meta
	}{*result, mcp.Meta{AdditionalFields: make(map[string]any, 2)}}
	if result.Meta != nil {
		with.meta.ProgressToken = result.Meta.ProgressToken
		maps.Copy(with.meta.AdditionalFields, result.Meta.AdditionalFields)
	}
	with.meta.AdditionalFields[name] = value
	with.result.Meta = &with.meta
	return &with.result
}
