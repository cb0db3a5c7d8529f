package resilience

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/kitebase/kitebase-mcp/idempotency"
)

// mark is what a layer adds to a result. Hosts show a model either the structured content or the text, so it goes into both:
// as fields of the object, and the note as the first line of the text.
type mark struct {
	Note        string     `json:"note,omitempty"`
	AlreadySent bool       `json:"already_sent,omitempty"`
	FirstSentAt *time.Time `json:"first_sent_at,omitempty"`
}

// replayed returns the first result of a finished record, marked as such.
func replayed(record idempotency.Record) landing {
	var result mcp.CallToolResult
	if err := json.Unmarshal(record.Result, &result); err != nil {
		return landing{record: record, err: &Failure{
			What: Internal, Says: "the call was done before, but its result could not be read from the ledger",
			Effect: idempotency.Done, NotRun: true, Cause: fmt.Errorf("result of %s: %w", record.Key, err),
		}}
	}
	first := record.FirstAt.UTC().Truncate(time.Second)
	annotate(&result, mark{Note: alreadyDone(first), AlreadySent: true, FirstSentAt: &first})
	return landing{record: record, result: withMeta(&result, MetaReplayed, true)}
}

// annotate puts m into the object of a result, before its other fields, and the note before its text.
func annotate(result *mcp.CallToolResult, m mark) {
	object := structured(result)
	if object == nil {
		result.Content = append([]mcp.Content{mcp.NewTextContent(m.Note)}, result.Content...)
		return
	}
	fields, err := json.Marshal(m)
	if err != nil || len(fields) == 0 {
		return
	}
	object = merge(fields, object)
	result.RawStructuredContent, result.StructuredContent = object, nil
	result.Content = []mcp.Content{mcp.NewTextContent(m.Note + "\n" + string(object))}
}

// structured returns the object of a result as JSON, or nil if it has none.
func structured(result *mcp.CallToolResult) []byte {
	object := []byte(result.RawStructuredContent)
	if len(object) == 0 && result.StructuredContent != nil {
		object, _ = json.Marshal(result.StructuredContent)
	}
	object = bytes.TrimSpace(object)
	if len(object) == 0 || object[0] != '{' {
		return nil
	}
	return object
}

// merge returns one object with the fields of both; where both have one, that of front stands.
func merge(front, back []byte) []byte {
	var first, rest map[string]json.RawMessage
	if json.Unmarshal(front, &first) != nil || json.Unmarshal(back, &rest) != nil {
		return back
	}
	clash := false
	for name := range first {
		_, both := rest[name]
		clash = clash || both
		delete(rest, name)
	}
	if clash { // rare: a result marked twice; the order of the remaining fields is lost
		back, _ = json.Marshal(rest)
	}
	if len(rest) == 0 {
		return front
	}
	return append(append(bytes.Clone(front[:len(front)-1]), ','), bytes.TrimSpace(back)[1:]...)
}
