package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/server"
)

// ledger reports whether what was sent can be remembered, and for how long.
func (e *examination) ledger(ctx context.Context) finding {
	switch {
	case e.config.Server.NoDedupe:
		return finding{Warning, "There is none (--dedupe=false): the same reply goes out as often as it is asked for.", "Remove that setting, unless this is an experiment."}
	case e.config.Ledger.Wrong:
		return finding{Skipped, "The settings have to be mended first.", ""}
	case e.config.Ledger.Open != nil:
		return e.open(ctx)
	}
	const (
		found  = "It is in memory and forgets at the end of the process"
		advice = "Name a file with --ledger (KITEBASE_LEDGER)."
	)
	switch {
	case e.config.Server.URL == "":
		return finding{OK, found + ". So does the embedded fake.", ""}
	case e.config.Server.IgnoresKeys:
		return finding{Warning, found + "; then nothing stops a second email.", advice}
	default:
		return finding{Warning, found + "; then only Kitebase's own idempotency keys stop a second email.", advice}
	}
}

const wholePath = "Give --ledger (KITEBASE_LEDGER) the whole path: hosts start the server in folders of their choice."

// open opens the ledger and reports what state it is in.
func (e *examination) open(ctx context.Context) finding {
	ctx, cancel := context.WithTimeout(ctx, ledgerLimit)
	defer cancel()
	where := e.config.Ledger.Where
	unconfirmed, err := e.look(ctx)
	advice := "Until it is mended the server remembers in memory what was sent. --ledger (KITEBASE_LEDGER) can name another place."
	if e.config.Server.IgnoresKeys {
		advice = "Until it is mended the server sends no replies. --ledger (KITEBASE_LEDGER) can name another place."
	}
	e.usableLedger = err == nil
	var explained interface{ Advice() string }
	if errors.As(err, &explained) {
		advice = explained.Advice()
	}
	const elsewhere = " But the setting is no whole path: started in another folder, the server has another ledger."
	switch {
	case err != nil && ctx.Err() != nil:
		return finding{Failed, fmt.Sprintf("It is %s, which could not be used within %s.", where, ledgerLimit), advice}
	case err != nil:
		return finding{Failed, "It cannot be used: " + strings.TrimSuffix(err.Error(), ".") + ".", advice}
	case unconfirmed > 0:
		f := finding{Warning, fmt.Sprintf("It is %s, which can be written. It has %d unconfirmed.", where, unconfirmed),
			"kitebase-mcp ledger settle looks for them in Kitebase; kitebase-mcp ledger list --state unknown shows them."}
		if e.config.Ledger.Relative {
			f.found, f.advice = f.found+elsewhere, f.advice+" "+wholePath
		}
		return f
	case e.config.Ledger.Relative:
		return finding{Warning, "It is " + where + ", which can be written. Nothing in it is unconfirmed." + elsewhere, wholePath}
	default:
		return finding{OK, "It is " + where + ", which can be written. Nothing in it is unconfirmed.", ""}
	}
}

// look opens the ledger, writes to it without changing anything, and counts what may have been sent or not.
func (e *examination) look(ctx context.Context) (unconfirmed int, err error) {
	store, err := e.config.Ledger.Open(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if _, err := store.Purge(ctx, time.Unix(0, 0)); err != nil { // nothing is that old
		return 0, fmt.Errorf("writing to it: %w", err)
	}
	found, err := store.Find(ctx, idempotency.Query{
		Scope: server.Scope(e.config.Server.URL, e.config.Server.Account), States: []idempotency.State{idempotency.Unconfirmed},
	})
	if err != nil {
		return 0, fmt.Errorf("reading it: %w", err)
	}
	return len(found), nil
}
