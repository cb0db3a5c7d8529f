package tools

import (
	"cmp"
	"context"
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
		result = withMeta(result, metaReplayed, true)
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
