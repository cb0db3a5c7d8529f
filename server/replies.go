package server

import (
	"context"
	"log/slog"
	"sync/atomic"
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
	log         *slog.Logger
	keyless     atomic.Bool // Kitebase does not honour keys: as configured, or as found out
}

// keyed reports whether a reply may be sent again under its key.
func (r *replies) keyed() bool { return !r.keyless.Load() }

// identify is the [resilience.DedupeConfig.Identify] of replies.
func (r *replies) identify(request mcp.CallToolRequest) (idempotency.Identity, error) {
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
func (r *replies) settle(ctx context.Context, record idempotency.Record) resilience.Settlement {
	wait := max(0, r.settleAfter-time.Since(record.LastAt))
	ticket, err := r.look(ctx, record)
	if err != nil {
		return resilience.Settlement{Wait: max(wait, time.Second)}
	}
	if found, ok := find(ticket, record); ok {
		return resilience.Settlement{Outcome: idempotency.Done, Result: tools.ReplyResult(ticket, found)}
	}
	if wait > 0 {
		return resilience.Settlement{Wait: wait}
	}
	return resilience.Settlement{Outcome: idempotency.NotDone}
}

// renewed reports whether the customer has written since the reply. The order of the conversation decides, not the clocks.
// When the ticket cannot be read, the careful answer is no.
func (r *replies) renewed(ctx context.Context, record idempotency.Record) bool {
	ticket, err := r.look(ctx, record)
	if err != nil {
		return false
	}
	found, ok := find(ticket, record)
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

// verify finds out whether Kitebase ignores keys: after a reply that was sent again, and that Kitebase did not say it
// replayed, two copies in the ticket prove it. From then on no reply is sent twice.
func (r *replies) verify(ctx context.Context, record idempotency.Record, result *mcp.CallToolResult) string {
	if _, replayed := tools.ReplayedUpstream(result); replayed || r.keyless.Load() {
		return ""
	}
	ticket, err := r.look(ctx, record)
	if err != nil {
		return ""
	}
	copies := 0
	for _, message := range ticket.Messages {
		alone := ticket
		alone.Messages = []kitebase.Message{message}
		if _, ok := find(alone, record); ok {
			copies++
		}
	}
	if copies < 2 {
		return ""
	}
	r.keyless.Store(true)
	r.log.ErrorContext(ctx, "Kitebase ignores Idempotency-Key: a retried reply went out twice. It is treated as keyless from now on; "+
		"start the server with --upstream-keys=false", "ticket", record.Group, "key", record.Key, "copies", copies)
	return "The customer got this reply more than once, because Kitebase ignored its idempotency key. Tell a person; it will not happen again."
}

func (r *replies) look(ctx context.Context, record idempotency.Record) (kitebase.Ticket, error) {
	ctx, cancel := context.WithTimeout(ctx, r.patience)
	defer cancel()
	return r.client.GetTicket(ctx, record.Group)
}

func find(ticket kitebase.Ticket, record idempotency.Record) (kitebase.Message, bool) {
	return tools.FindReply(ticket, record.Key, record.Fingerprint, record.FirstAt.Add(-clockSkew))
}

// replyTicket returns the ticket that a reply_to_customer call is about, or "".
func replyTicket(request mcp.CallToolRequest) string {
	ticket, _, _ := tools.ReplyArguments(request)
	return ticket
}

// assignTicket returns the ticket that an assign_ticket call is about, or "".
func assignTicket(request mcp.CallToolRequest) string {
	ticket, _, _ := tools.AssignArguments(request)
	return ticket
}
