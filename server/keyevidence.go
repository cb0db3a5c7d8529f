package server

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/tools"
	"github.com/kitebase/kitebase-mcp/tools/kitebase"
)

// KeyEvidence is what the past shows about whether Kitebase honours Idempotency-Key. The zero value: nothing.
type KeyEvidence struct {
	// Ignored says that a reply stands in its ticket twice under one key, Honoured that Kitebase recognised a key. At most one
	// of them is true, and Ignored wins.
	Ignored, Honoured bool
	// Ticket and Key name the reply that shows it.
	Ticket, Key string
}

// How far back [FindKeyEvidence] looks.
const (
	evidenceRecords = 200
	evidenceTickets = 5
)

// FindKeyEvidence looks for evidence in the newest 200 records of the ledger of config and in the 5 tickets that they are
// about. It only reads. Its error is that of the ledger; a ticket that cannot be read shows nothing.
func FindKeyEvidence(ctx context.Context, config Config) (KeyEvidence, error) {
	s := &Server{config: config.withDefaults()}
	records, err := s.config.Store.Find(ctx, idempotency.Query{
		Scope: Scope(config.URL, config.Account), Limit: evidenceRecords,
		States: []idempotency.State{idempotency.Finished, idempotency.Settled},
	})
	if err != nil {
		return KeyEvidence{}, fmt.Errorf("reading the ledger: %w", err)
	}
	if err := s.connect(); err != nil {
		return KeyEvidence{}, err
	}
	defer s.Close()
	found := recorded(records)
	replies, read := s.replies(), map[string]kitebase.Ticket{}
	for _, record := range records {
		ticket, known := read[record.Group]
		if record.Key == "" || !known && len(read) == evidenceTickets || found.Ignored {
			continue
		}
		if !known {
			ticket, _ = replies.look(ctx, record) // the zero ticket has no messages
			read[record.Group] = ticket
		}
		if key := repeatedKey(ticket); key != "" {
			found = KeyEvidence{Ignored: true, Ticket: record.Group, Key: key}
		} else if copies, err := replies.matches(ctx, ticket, record); record.Attempts > 1 && err == nil && len(copies) > 1 {
			found = KeyEvidence{Ignored: true, Ticket: record.Group, Key: record.Key}
		}
	}
	return found, nil
}

// recorded returns what servers wrote down with the results of replies.
func recorded(records []idempotency.Record) KeyEvidence {
	var found KeyEvidence
	for _, record := range records {
		var result mcp.CallToolResult
		if record.Key == "" || json.Unmarshal(record.Result, &result) != nil {
			continue
		}
		if tools.KeyIgnored(&result) {
			return KeyEvidence{Ignored: true, Ticket: record.Group, Key: record.Key}
		}
		if _, replayed := tools.ReplayedUpstream(&result); replayed {
			found = KeyEvidence{Honoured: true, Ticket: record.Group, Key: record.Key}
		}
	}
	return found
}

// repeatedKey returns a key under which two messages of agents stand in the ticket, or "".
func repeatedKey(ticket kitebase.Ticket) string {
	seen := map[string]bool{}
	for _, m := range ticket.Messages {
		if m.Author != "agent" || m.IdempotencyKey == "" {
			continue
		}
		if seen[m.IdempotencyKey] {
			return m.IdempotencyKey
		}
		seen[m.IdempotencyKey] = true
	}
	return ""
}
