package tools

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/tools/kitebase"
)

type sentReply struct {
	TicketID string    `json:"ticket_id"`
	ReplyID  string    `json:"reply_id"`
	SentTo   string    `json:"sent_to"`
	SentAt   time.Time `json:"sent_at"`
	notes
}

func replyArguments() []Argument { return []Argument{ticketIDArgument(), messageArgument()} }

// ReplyArguments returns the ticket id and message of a reply_to_customer call, normalised and stripped as its handler
// does, or the error that the handler would answer with.
func ReplyArguments(request mcp.CallToolRequest) (ticketID, message string, err error) {
	in, err := bind(request, replyArguments())
	return in["ticket_id"], in["message"], err
}

// reply sends one email. The key is that of the layer above, which may be one of a later generation; without such a
// layer it is the first key of this reply, so that a repeat is still harmless.
func (h handlers) reply(ctx context.Context, in values) (*mcp.CallToolResult, error) {
	ticketID, message := in["ticket_id"], in["message"]
	receipt, err := h.client.Reply(ctx, kitebase.Reply{
		TicketID: ticketID,
		Message:  message,
		Key:      cmp.Or(idempotency.KeyFrom(ctx), idempotency.Key(ticketID, message)),
	})
	if err != nil {
		return nil, wordTicketError(err, ticketID)
	}
	result := wordReply(ticketID, receipt)
	if receipt.Replayed {
		result = withAge(withMeta(result, metaReplayed, true), receipt.Age)
	}
	return result, nil
}

func wordReply(ticketID string, receipt kitebase.Receipt) *mcp.CallToolResult {
	var read reader
	sent := sentReply{TicketID: ticketID, ReplyID: read.short(receipt.ReplyID), SentTo: read.short(receipt.SentTo), SentAt: receipt.CreatedAt}
	sent.clean(read.cleaned)
	result := success(sent)
	if sent.ReplyID != receipt.ReplyID {
		result = withMeta(result, metaReplyID, digest(receipt.ReplyID))
	}
	return result
}

// metaReplyID is the field of a result's _meta that tells a reply id apart which is not shown as it is.
const metaReplyID = "io.kitebase/reply_id_sha256"

func digest(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])
}

// withMeta adds a field to the _meta of a result that nobody else has yet.
func withMeta(result *mcp.CallToolResult, name string, value any) *mcp.CallToolResult {
	if result.Meta == nil {
		result.Meta = mcp.NewMetaFromMap(make(map[string]any))
	}
	result.Meta.AdditionalFields[name] = value
	return result
}

// metaReplayed is the field of a result's _meta that is true if Kitebase said that it had this reply already.
const metaReplayed = "io.kitebase/upstream_replayed"

// ReplayedUpstream reports whether Kitebase said that it had the reply of this result already, and when it was sent.
func ReplayedUpstream(result *mcp.CallToolResult) (sentAt time.Time, replayed bool) {
	if result.Meta == nil || result.Meta.AdditionalFields[metaReplayed] != true {
		return time.Time{}, false
	}
	var sent sentReply
	_ = json.Unmarshal(result.RawStructuredContent, &sent) // we wrote it ourselves
	return sent.SentAt, true
}

// metaAge is the field of a result's _meta that says how many seconds old a reply was that Kitebase had already. It is left out
// below a minute, which an attempt of the same call is.
const metaAge = "io.kitebase/upstream_replayed_age_s"

func withAge(result *mcp.CallToolResult, age time.Duration) *mcp.CallToolResult {
	if age < time.Minute {
		return result
	}
	return withMeta(result, metaAge, int(age.Seconds()))
}

// ReplayedAge returns how old the reply of this result was, by Kitebase's clock, if Kitebase said that it had it already; 0
// if it did not say so, or not how old, and below a minute.
func ReplayedAge(result *mcp.CallToolResult) time.Duration {
	if result.Meta == nil {
		return 0
	}
	switch seconds := result.Meta.AdditionalFields[metaAge].(type) {
	case int:
		return time.Duration(seconds) * time.Second
	case float64: // read back from JSON
		return time.Duration(seconds) * time.Second
	default:
		return 0
	}
}

// metaKeyIgnored is the field of a result's _meta that is true if Kitebase was found to ignore the key of this reply.
const metaKeyIgnored = "io.kitebase/key_ignored"

// MarkKeyIgnored notes on the result of a reply that Kitebase ignored its key, for whoever reads the record later.
func MarkKeyIgnored(result *mcp.CallToolResult) {
	if result.Meta == nil {
		result.Meta = mcp.NewMetaFromMap(nil)
	}
	if result.Meta.AdditionalFields == nil {
		result.Meta.AdditionalFields = map[string]any{}
	}
	result.Meta.AdditionalFields[metaKeyIgnored] = true
}

// KeyIgnored reports whether [MarkKeyIgnored] was told of the result.
func KeyIgnored(result *mcp.CallToolResult) bool {
	return result.Meta != nil && result.Meta.AdditionalFields[metaKeyIgnored] == true
}

// ReplyName returns the reply id in the result of a reply_to_customer call for use in a sentence, or "" if it holds none that
// could be taken for nothing but an id.
func ReplyName(result *mcp.CallToolResult) string {
	var sent sentReply
	_ = json.Unmarshal(result.RawStructuredContent, &sent) // what cannot be read holds none
	if !plainName().MatchString(sent.ReplyID) {
		return ""
	}
	return sent.ReplyID
}

// IsReply reports whether the message of that id is the reply in the result of a reply_to_customer call. It compares ids as
// Kitebase wrote them, not as they are shown.
func IsReply(result *mcp.CallToolResult, id string) bool {
	if result.Meta != nil && result.Meta.AdditionalFields[metaReplyID] != nil {
		return result.Meta.AdditionalFields[metaReplyID] == digest(id)
	}
	var sent sentReply
	_ = json.Unmarshal(result.RawStructuredContent, &sent) // what cannot be read holds none
	return id != "" && sent.ReplyID == id
}

// ReplySentAt returns when the reply of a result was sent, by Kitebase's clock; the zero time if it does not say.
func ReplySentAt(result *mcp.CallToolResult) time.Time {
	var sent sentReply
	_ = json.Unmarshal(result.RawStructuredContent, &sent) // what cannot be read holds none
	return sent.SentAt
}

// FindReply looks for a reply of ours in a ticket that was read back. A message with an idempotency key is ours if the
// key is; one without is ours if an agent wrote a text with the same [idempotency.Fingerprint] at since or later by
// Kitebase's clock. The caller allows for the difference of the clocks in since; the zero time is any time.
//
// A reply that was found was sent. One that was not found may still be under way.
func FindReply(ticket kitebase.Ticket, key, fingerprint string, since time.Time) (kitebase.Message, bool) {
	for _, m := range ticket.Messages {
		switch {
		case m.Author != "agent":
		case m.IdempotencyKey != "":
			if m.IdempotencyKey == key {
				return m, true
			}
		case !m.CreatedAt.Before(since) && idempotency.Fingerprint(ticket.ID, m.Body) == fingerprint:
			return m, true
		}
	}
	return kitebase.Message{}, false
}

// ReplyResult words a reply that [FindReply] found as reply_to_customer words one that it sent.
func ReplyResult(ticket kitebase.Ticket, found kitebase.Message) *mcp.CallToolResult {
	return wordReply(ticket.ID, kitebase.Receipt{ReplyID: found.ID, SentTo: ticket.Customer.Name, CreatedAt: found.CreatedAt})
}
