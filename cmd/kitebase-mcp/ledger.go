package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/server"
)

type ledgerCommand struct {
	List   ledgerList   `cmd:"" help:"List what was sent and what is unknown, the newest first."`
	Show   ledgerShow   `cmd:"" help:"Show everything about one record."`
	Settle ledgerSettle `cmd:"" help:"Look in Kitebase for what is unknown. Sends nothing."`
	Forget ledgerForget `cmd:"" help:"Remove a record. A Kitebase that honours keys still knows that reply by its key."`
}

// errNoLedger is what there is to say about a ledger that only its own process can see.
var errNoLedger = errors.New("the ledger is in the memory of each server: name a file or database with --ledger, or the Kitebase with --url")

// open opens the ledger for a look from outside, while servers may be running.
func (d desk) open(ctx context.Context) (idempotency.Store, error) {
	if err := d.wrong(); err != nil {
		return nil, usageError{err}
	}
	if d.spec() == memory {
		return nil, usageError{errNoLedger}
	}
	if !isPostgres(d.spec()) { // a look must not make a new one
		if _, err := os.Stat(d.spec()); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("there is no ledger at %s; no reply was sent from here yet, or --ledger names another file", d.spec())
		}
	}
	return openStore(ctx, d.spec())
}

type ledgerList struct {
	desk
	Ticket string        `name:"ticket" placeholder:"ID" help:"Only this ticket."`
	State  []string      `name:"state" placeholder:"STATES" enum:"claimed,done,unknown,settled,held,abandoned" help:"Only these states: claimed, done, unknown, settled, held, abandoned."`
	Since  time.Duration `name:"since" placeholder:"AGE" help:"Only what changed within this time, such as 24h."`
	Older  time.Duration `name:"older" placeholder:"AGE" help:"Only what has not changed for this time, such as 5m."`
	Limit  int           `name:"limit" default:"100" help:"Most records to list."`
	JSON   bool          `name:"json" help:"As a JSON document."`
}

// Run lists records of all Kitebases in the ledger, or of the one that --url names.
func (l *ledgerList) Run(ctx context.Context, std streams) error {
	query := idempotency.Query{Group: strings.ToUpper(l.Ticket), Limit: l.Limit}
	for _, state := range l.State {
		query.States = append(query.States, idempotency.State(state))
	}
	if l.URL != "" {
		query.Scope = server.Scope(l.URL, l.Account)
	}
	if l.Since > 0 {
		query.Since = time.Now().Add(-l.Since)
	}
	if l.Older > 0 {
		query.Before = time.Now().Add(-l.Older)
	}
	records, err := l.find(ctx, query)
	if err != nil {
		return err
	}
	if l.JSON {
		return printJSON(std.out, shown(records))
	}
	return printTable(std.out, records)
}

func (d desk) find(ctx context.Context, query idempotency.Query) ([]idempotency.Record, error) {
	store, err := d.open(ctx)
	if err != nil {
		return nil, err
	}
	defer store.Close()
	return store.Find(ctx, query)
}

type ledgerShow struct {
	desk
	Key string `arg:"" help:"The key, as list prints it."`
}

// Run prints a record as JSON.
func (l *ledgerShow) Run(ctx context.Context, std streams) error {
	records, err := l.find(ctx, idempotency.Query{Key: l.Key})
	if err != nil {
		return err
	}
	if len(records) == 0 {
		return fmt.Errorf("there is no record with the key %q; ledger list shows those that there are", l.Key)
	}
	return printJSON(std.out, shown(records))
}

// shownRecord is a record as people and programs see it.
type shownRecord struct {
	Key          string          `json:"key"`
	Ticket       string          `json:"ticket"`
	Tool         string          `json:"tool"`
	State        string          `json:"state"`
	Generation   int             `json:"generation"`
	Attempts     int             `json:"attempts"`
	HostRepeats  int             `json:"host_repeats"`
	ModelRepeats int             `json:"model_repeats"`
	FirstAt      time.Time       `json:"first_at"`
	LastAt       time.Time       `json:"last_at"`
	Evidence     string          `json:"evidence,omitempty"`
	Owner        string          `json:"owner,omitempty"`
	Scope        string          `json:"scope"`
	Result       json.RawMessage `json:"result,omitempty"`
}

func shown(records []idempotency.Record) []shownRecord {
	all := make([]shownRecord, 0, len(records))
	for _, r := range records {
		all = append(all, shownRecord{
			Key: r.Key, Ticket: r.Group, Tool: r.Tool, State: string(r.State), Generation: r.Generation, Attempts: r.Attempts,
			HostRepeats: r.HostRepeats, ModelRepeats: r.ModelRepeats, FirstAt: r.FirstAt.UTC(), LastAt: r.LastAt.UTC(),
			Evidence: r.Evidence, Owner: r.Owner, Scope: r.Scope, Result: r.Result,
		})
	}
	return all
}

func printJSON(out io.Writer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

func printTable(out io.Writer, records []idempotency.Record) error {
	if len(records) == 0 {
		_, err := fmt.Fprintln(out, "nothing")
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "KEY\tTICKET\tTOOL\tSTATE\tATTEMPTS\tREPEATS\tFIRST\tLAST\tKNOWN BY")
	for _, r := range records {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%d\t%d\t%s\t%s\t%s\n", cmp.Or(r.Key, "-"), r.Group, r.Tool, r.State, r.Attempts,
			r.HostRepeats+r.ModelRepeats, r.FirstAt.Format(time.DateTime), r.LastAt.Format(time.DateTime), cmp.Or(r.Evidence, "-"))
	}
	return table.Flush()
}
