package doctor

import (
	"context"
	"errors"
	"fmt"

	"github.com/kitebase/kitebase-mcp/server"
)

// keys reports what is to stop a second email on the side of Kitebase. To try it, a reply would have to be sent twice; but if
// one ever was, ledger and ticket show what came of it.
func (e *examination) keys(ctx context.Context) finding {
	shown := e.evidence(ctx)
	reply := fmt.Sprintf("the reply with the key %s in %s", shown.Key, shown.Ticket)
	switch ignored := e.config.Server.IgnoresKeys; {
	case ignored && e.config.Server.NoDedupe:
		return finding{Warning, "Kitebase is said to ignore Idempotency-Key (--upstream-keys=false), and there is no ledger: nothing stops a second email.",
			"Remove --dedupe=false, unless this is an experiment."}
	case ignored:
		found := "Kitebase is said to ignore Idempotency-Key (--upstream-keys=false): a reply is sent once and looked up when its answer is lost."
		if shown.Honoured {
			found += " But it recognised the repeat of " + reply + ", so that --upstream-keys=true would do."
		}
		return finding{OK, found, ""}
	case shown.Ignored:
		return finding{Failed, "Kitebase ignores Idempotency-Key: " + reply + " went out more than once.",
			"Set --upstream-keys=false (KITEBASE_UPSTREAM_KEYS): a reply is then sent once, and looked up when its answer is lost. If Kitebase was mended since, " +
				"the old records are forgotten after twice --dedupe-window (KITEBASE_DEDUPE_WINDOW)."}
	case shown.Honoured:
		return finding{OK, "Kitebase honours Idempotency-Key: it recognised the repeat of " + reply + ".", ""}
	default:
		return finding{OK, "Kitebase is said to honour Idempotency-Key (--upstream-keys=true). That is not proved: no reply that is on record here shows it. " +
			"The server notices when it is not so.", ""}
	}
}

// evidence looks for replies that were repeated; where it cannot look there is none.
func (e *examination) evidence(ctx context.Context) (shown server.KeyEvidence) {
	if !e.kitebase.sender || e.kitebase.failure != nil || !e.usableLedger {
		return shown
	}
	ctx, cancel := context.WithTimeout(ctx, ledgerLimit)
	defer cancel()
	store, err := e.config.Ledger.Open(ctx)
	if err != nil {
		return shown
	}
	config := e.config.Server
	config.Store = store
	shown, err = server.FindKeyEvidence(ctx, config)
	if errors.Join(err, store.Close()) != nil { // the check of the ledger is another one
		return server.KeyEvidence{}
	}
	return shown
}
