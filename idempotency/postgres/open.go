package postgres

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/kitebase/kitebase-mcp/idempotency/internal/groupcommit"
)

const (
	connectLimit = 5 * time.Second
	// connections is the size of the pool: one writes, some read.
	connections = 4
	// defaultSchema holds the tables unless the URL has a search_path.
	defaultSchema = "kitebase_mcp"
)

var errURL = errors.New("its URL cannot be read; it must look like postgres://USER:PASSWORD@HOST/DATABASE")

// Open opens the ledger in the database that the URL names, with all the settings that a PostgreSQL URL can hold, and creates
// the tables that are missing. Close the store to end its owner. No error text holds the password. A database that a later
// release wrote to is refused with [ErrNewer].
func Open(ctx context.Context, url string) (*Store, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, redact{}.explain("opening", errURL) // err quotes the URL
	}
	hide := redact{config.ConnConfig.Password}
	config.ConnConfig.ConnectTimeout = cmp.Or(config.ConnConfig.ConnectTimeout, connectLimit)
	config.MaxConns = connections
	parameters := config.ConnConfig.RuntimeParams
	parameters["search_path"] = cmp.Or(parameters["search_path"], defaultSchema)
	parameters["synchronous_commit"] = "on"
	parameters["default_transaction_isolation"] = "read committed"
	parameters["application_name"] = cmp.Or(parameters["application_name"], "kitebase-mcp")

	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, hide.explain("opening", err)
	}
	if err := migrate(ctx, pool, parameters["search_path"]); err != nil {
		pool.Close()
		return nil, hide.explain("opening", err)
	}
	owner, err := newOwner(ctx, config.ConnConfig)
	if err != nil {
		pool.Close()
		return nil, hide.explain("opening", err)
	}
	s := &Store{pool: pool, redact: hide, owner: owner}
	s.queue = &groupcommit.Queue[*operation]{Run: s.run, Alone: answered}
	return s, nil
}
