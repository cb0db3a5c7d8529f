package resilience

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/kitebase/kitebase-mcp/idempotency"
)

// metaToolUse is where Claude Code names a call. It is the same when the host itself sends a call again, and another when
// the model does.
const metaToolUse = "claudecode/toolUseId"

func callID(request mcp.CallToolRequest) string {
	if request.Params.Meta == nil {
		return ""
	}
	id, _ := request.Params.Meta.AdditionalFields[metaToolUse].(string)
	return id[:min(len(id), 128)]
}

// replay returns the first result of a finished record, marked as such, and counts the repeat.
func (d *deduper) replay(ctx context.Context, record idempotency.Record, id idempotency.Identity) *landing {
	var result mcp.CallToolResult
	if err := json.Unmarshal(record.Result, &result); err != nil {
		return &landing{record: record, err: &Failure{
			What: Internal, Says: "it was done before, but its result could not be read from the ledger",
			Effect: idempotency.Done, NotRun: true, Cause: fmt.Errorf("result of %s: %w", record.Key, err),
		}}
	}
	callFrom(ctx).key = record.Key
	first := d.sentAt(record, &result).UTC().Truncate(time.Second)
	annotate(&result, mark{Note: alreadyDone(d.Noun, first), AlreadySent: true, FirstSentAt: &first})
	by := "model"
	if id.CallID != "" && id.CallID == record.CallID {
		by = "host"
	}
	record = d.count(ctx, record, id, by)
	marked := withMeta(withMeta(&result, MetaReplayed, true), MetaRepeatedBy, by)
	return &landing{record: record, result: marked}
}

func (d *deduper) sentAt(record idempotency.Record, result *mcp.CallToolResult) time.Time {
	if d.SentAt != nil {
		if at := d.SentAt(result); !at.IsZero() {
			return at
		}
	}
	return record.FirstAt
}

// count books a repeat in the ledger; a settled record is told by it. That it cannot be written is no failure of the call.
func (d *deduper) count(ctx context.Context, record idempotency.Record, id idempotency.Identity, by string) idempotency.Record {
	d.repeats <- struct{}{}
	defer func() { <-d.repeats }()
	ctx = context.WithoutCancel(ctx)
	for range 20 { // others count at the same time
		counted := record
		counted.State = idempotency.Finished
		if by == "host" {
			counted.HostRepeats++
		} else {
			counted.ModelRepeats++
			counted.CallID = id.CallID
		}
		err := d.Ledger.Save(ctx, &counted)
		if err == nil {
			return counted
		}
		if !errors.Is(err, idempotency.ErrMoved) {
			d.log(ctx, err)
			return record
		}
		current, err := d.Ledger.Look(ctx, record.Fingerprint)
		if err != nil || current.Generation != record.Generation || current.Result == nil {
			return record
		}
		record = current
	}
	return record
}

// mark is what a layer adds to a result. Hosts show a model either the structured content or the text, so it goes into both:
// as fields of the object, and the note as the first line of the text.
type mark struct {
	Note        string     `json:"note,omitempty"`
	AlreadySent bool       `json:"already_sent,omitempty"`
	FirstSentAt *time.Time `json:"first_sent_at,omitempty"`
	ServedBy    string     `json:"served_by,omitempty"`
	AsOf        *time.Time `json:"as_of,omitempty"`
	Cleaned     bool       `json:"cleaned,omitempty"`
}

// Annotate adds a note to the object and the text of a result, before what is there.
func Annotate(result *mcp.CallToolResult, note string) { annotate(result, mark{Note: note}) }

// annotate puts m into the object of a result, before its other fields, and the note before its text. A note that is
// there already stays, behind the new one.
func annotate(result *mcp.CallToolResult, m mark) {
	object := structured(result)
	if object == nil {
		result.Content = append([]mcp.Content{mcp.NewTextContent(m.Note)}, result.Content...)
		return
	}
	var has mark
	if json.Unmarshal(object, &has) == nil && has.Note != "" {
		m.Note += " " + has.Note
	}
	fields, err := json.Marshal(m)
	if err != nil {
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

// merge returns one object with the fields of both, those of front first; where both have one, that of front stands.
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
	if clash { // rare: a result marked twice; the order of its other fields is lost
		back, _ = json.Marshal(rest)
	}
	if len(rest) == 0 {
		return front
	}
	return append(append(bytes.Clone(front[:len(front)-1]), ','), bytes.TrimSpace(back)[1:]...)
}
