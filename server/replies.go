package server

import (
	"cmp"
	"context"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/server/resilience"
	"github.com/kitebase/kitebase-mcp/tools"
	"github.com/kitebase/kitebase-mcp/tools/kitebase"
)

// clockSkew is how far the clock of Kitebase may be behind ours when a reply without a key is looked for. A reply that is
// overlooked would be sent twice; one that is found although a person wrote the same text minutes before is not missed.
const clockSkew = 5 * time.Minute

// replies knows what makes a reply to a customer the same reply, and how to find out whether it was sent.
type replies struct {
	client      *kitebase.Client
	settleAfter time.Duration
	patience    time.Duration // for one look
}

// identify is the [resilience.DedupeConfig.Identify] of replies.
func (r replies) identify(request mcp.CallToolRequest) (idempotency.Identity, error) {
	ticket, message, err := tools.ReplyArguments(request)
	if err != nil {
		return idempotency.Identity{}, err
	}
	return idempotency.Identity{
		Fingerprint: idempotency.Fingerprint(ticket, message),
		Group:       ticket,
		Key:         func(generation int) string { return idempotency.GenerationKey(generation, ticket, message) },
	}, nil
}

// settle reads the ticket back. A reply that stands there was sent. One that does not was certainly not sent only when the
// settle horizon has passed since the last attempt.
func (r replies) settle(ctx context.Context, record idempotency.Record) resilience.Settlement {
	wait := max(0, r.settleAfter-time.Since(record.LastAt))
	ticket, err := r.look(ctx, record)
	if err != nil {
		return resilience.Settlement{Wait: wait}
	}
	if found, ok := tools.FindReply(ticket, record.Key, record.Fingerprint, record.FirstAt.Add(-clockSkew)); ok {
		return resilience.Settlement{Outcome: idempotency.Done, Result: tools.ReplyResult(ticket, found)}
	}
	if wait > 0 {
		return resilience.Settlement{Wait: wait}
	}
	return resilience.Settlement{Outcome: idempotency.NotDone}
}

// renewed reports whether the customer has written since the reply. The order of the conversation decides, not the clocks.
// When the ticket cannot be read, the careful answer is no.
func (r replies) renewed(ctx context.Context, record idempotency.Record) bool {
	ticket, err := r.look(ctx, record)
	if err != nil {
		return false
	}
	found, ok := tools.FindReply(ticket, record.Key, record.Fingerprint, record.FirstAt.Add(-clockSkew))
	if !ok {
		return false
	}
	after := false
	for _, message := range ticket.Messages {
		if after && message.Author == "customer" {
			return true
		}
		after = after || message.ID == found.ID
	}
	return false
}

func (r replies) look(ctx context.Context, record idempotency.Record) (kitebase.Ticket, error) {
	ctx, cancel := context.WithTimeout(ctx, max(time.Millisecond, cmp.Or(r.patience, 5*time.Second)))
	defer cancel()
	return r.client.GetTicket(ctx, record.Group)
}
