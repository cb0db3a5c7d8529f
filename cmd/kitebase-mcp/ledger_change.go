package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/server"
	"github.com/kitebase/kitebase-mcp/server/audit"
)

type ledgerForget struct {
	desk
	logging
	Key   string `arg:"" help:"The key, as list prints it."`
	Force bool   `name:"force" help:"Also if the reply may have been sent or is being sent now."`
}

// Run removes the records with the key.
func (l *ledgerForget) Run(ctx context.Context, std streams) error {
	trail, closer, err := l.trail(std.err)
	if err != nil {
		return err
	}
	defer closer.Close()
	store, err := l.open(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	records, err := store.Find(ctx, idempotency.Query{Key: l.Key})
	if err != nil {
		return err
	}
	if len(records) == 0 {
		return fmt.Errorf("there is no record with the key %q; ledger list shows those that there are", l.Key)
	}
	for _, record := range records {
		if !l.Force && (record.State == idempotency.Unconfirmed || record.State == idempotency.Claimed) {
			return fmt.Errorf("%s is %s: the customer may have got it, and would get it again. Try ledger settle first, or say --force",
				record.Key, record.State)
		}
		removed, err := store.Delete(ctx, record)
		if err != nil {
			return err
		}
		if !removed {
			return fmt.Errorf("%s changed meanwhile; nothing was removed", record.Key)
		}
		trail.Write(ctx, audit.Entry{
			Event: audit.Forgotten, Who: operator(), Tool: record.Tool, Ticket: record.Group, Outcome: outcomeOf(record),
			Key: record.Key, Attempts: record.Attempts,
		})
		fmt.Fprintf(std.out, "forgot %s of %s, which was %s\n", record.Key, record.Group, record.State)
	}
	return nil
}

type ledgerSettle struct {
	desk
	logging
	SettleAfter time.Duration `name:"settle-after" default:"30s" help:"How long after the last attempt a reply that is not in its ticket is taken for not sent: longer than Kitebase ever works on one."`
}

// Run settles what it can and prints what it looked at.
func (l *ledgerSettle) Run(ctx context.Context, std streams) error {
	if l.URL == "" {
		return usageError{errors.New("--url (KITEBASE_URL) is needed: settling looks into the tickets of that Kitebase")}
	}
	trail, closer, err := l.trail(std.err)
	if err != nil {
		return err
	}
	defer closer.Close()
	store, err := l.open(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	records, err := server.Settle(ctx, server.Config{
		URL: l.URL, Token: l.Token, Account: l.Account, Version: version(), SettleAfter: l.SettleAfter, Store: store,
		Audit: trail, Settler: operator(),
	})
	if err != nil {
		return err
	}
	return printTable(std.out, records)
}
