package server

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/server/resilience"
	"github.com/kitebase/kitebase-mcp/server/tracing"
	"github.com/kitebase/kitebase-mcp/tools"
	"github.com/kitebase/kitebase-mcp/tools/kitebase"
)

// clockSkew is how far the clock of Kitebase may be behind ours when a reply without a key is looked for. A reply that is
// overlooked would be sent twice; one that is found although a person wrote the same text minutes before is not missed.
const clockSkew = 5 * time.Minute

// replies knows what makes a reply to a customer the same reply, and how to find out whether it was sent.
type replies struct {
	client      *kitebase.Client
	ledger      *idempotency.Ledger
	settleAfter time.Duration
	patience    time.Duration // for one look
	log         *slog.Logger
	tracing     *tracing.Tracing
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
func (r *replies) settle(ctx context.Context, record idempotency.Record) (found resilience.Settlement) {
	ctx, ended := r.tracing.Look(ctx, record.Tool)
	defer func() { ended(found.Outcome.String()) }()
	wait := max(0, r.settleAfter-time.Since(record.LastAt))
	ticket, err := r.look(ctx, record)
	if err != nil {
		return resilience.Settlement{Wait: max(wait, time.Second)}
	}
	sent, ok, err := r.find(ctx, ticket, record)
	switch {
	case err != nil:
		return resilience.Settlement{Wait: max(wait, time.Second)}
	case ok:
		return resilience.Settlement{Outcome: idempotency.Done, Result: tools.ReplyResult(ticket, sent)}
	case wait > 0:
		return resilience.Settlement{Wait: wait}
	default:
		return resilience.Settlement{Outcome: idempotency.NotDone}
	}
}

// renewed reports whether the customer has written since the reply. The order of the conversation decides, not the clocks.
// When the ticket cannot be read, the careful answer is no.
func (r *replies) renewed(ctx context.Context, record idempotency.Record) bool {
	ticket, err := r.look(ctx, record)
	if err != nil {
		return false
	}
	since := following(ticket.Messages, isReply(record))
	return slices.ContainsFunc(since, func(m kitebase.Message) bool { return m.Author == "customer" })
}

// following returns the messages after the first one with such an id, none if it is not there.
func following(messages []kitebase.Message, is func(id string) bool) []kitebase.Message {
	i := slices.IndexFunc(messages, func(m kitebase.Message) bool { return is(m.ID) })
	if i < 0 {
		return nil
	}
	return messages[i+1:]
}

// isReply tells the id of the reply that a finished record is about from others.
func isReply(record idempotency.Record) func(id string) bool {
	var result mcp.CallToolResult
	if json.Unmarshal(record.Result, &result) != nil {
		return func(string) bool { return false }
	}
	return func(id string) bool { return tools.IsReply(&result, id) }
}

// verify finds out whether Kitebase ignores keys: after a reply that was sent again, and that Kitebase did not say it
// replayed, two copies in the ticket prove it. From then on no reply is sent twice.
func (r *replies) verify(ctx context.Context, record idempotency.Record, result *mcp.CallToolResult) string {
	if _, replayed := tools.ReplayedUpstream(result); replayed {
		return ""
	}
	ticket, err := r.look(ctx, record)
	if err != nil {
		return ""
	}
	copies, err := r.matches(ctx, ticket, record)
	if err != nil || len(copies) < 2 {
		return ""
	}
	r.keyless.Store(true)
	tools.MarkKeyIgnored(result)
	r.log.ErrorContext(ctx, "Kitebase ignores Idempotency-Key: a retried reply went out twice. It is treated as keyless from now on; "+
		"start the server with --upstream-keys=false", "call", resilience.CallID(ctx), "ticket", record.Group, "key", record.Key, "copies", len(copies))
	return "The customer got this reply more than once, because Kitebase ignored its idempotency key. Tell a person; it will not happen again."
}

func (r *replies) look(ctx context.Context, record idempotency.Record) (kitebase.Ticket, error) {
	ctx, cancel := context.WithTimeout(ctx, r.patience)
	defer cancel()
	return r.client.GetTicket(ctx, record.Group)
}

// find looks for the reply of record in its ticket: the last one, where Kitebase ignored keys and there are several.
func (r *replies) find(ctx context.Context, ticket kitebase.Ticket, record idempotency.Record) (kitebase.Message, bool, error) {
	found, err := r.matches(ctx, ticket, record)
	if len(found) == 0 {
		return kitebase.Message{}, false, err
	}
	return found[len(found)-1], true, err
}

// matches returns what in the ticket is the reply of record. The same text may stand there from generations before; those are
// known to the ledger by their ids, and this one comes after them.
func (r *replies) matches(ctx context.Context, ticket kitebase.Ticket, record idempotency.Record) (all []kitebase.Message, err error) {
	earlier, err := r.ledger.Earlier(ctx, record)
	if err != nil {
		return nil, err
	}
	for _, generation := range earlier {
		if since := following(ticket.Messages, isReply(generation)); since != nil {
			ticket.Messages = since
		}
	}
	for {
		found, ok := tools.FindReply(ticket, record.Key, record.Fingerprint, record.FirstAt.Add(-clockSkew))
		if !ok {
			return all, nil
		}
		all = append(all, found)
		ticket.Messages = following(ticket.Messages, func(id string) bool { return id == found.ID })
	}
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
