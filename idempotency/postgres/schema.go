package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// ErrNewer means that a later release of this program wrote the tables. They were not touched.
var ErrNewer = errors.New("a newer kitebase-mcp wrote it; update kitebase-mcp, or choose another ledger with --ledger")

// migrationLock is the advisory lock around migrations: "kitebase" in ASCII.
const migrationLock = 0x6b69746562617365

// migrations bring the schema from version i to i+1. Those that were released are never changed, only added to.
var migrations = []string{`
CREATE TABLE records (
	scope         text NOT NULL,
	fingerprint   text NOT NULL,
	generation    bigint NOT NULL,
	group_name    text NOT NULL,
	key           text NOT NULL,
	tool          text NOT NULL,
	state         text NOT NULL,
	owner         text NOT NULL,
	lease         bigint NOT NULL,
	attempts      bigint NOT NULL,
	call_id       text NOT NULL,
	host_repeats  bigint NOT NULL,
	model_repeats bigint NOT NULL,
	first_at      bigint NOT NULL,
	last_at       bigint NOT NULL,
	result        bytea,
	evidence      text NOT NULL,
	version       bigint NOT NULL,
	PRIMARY KEY (scope, fingerprint, generation)
);
CREATE INDEX records_by_group ON records (group_name);
CREATE INDEX records_by_key ON records (key);
CREATE INDEX records_by_age ON records (last_at);
CREATE INDEX records_not_done ON records (state, last_at) WHERE state <> 'done';
`}

// migrate brings the schema up to date, in one transaction, one process at a time.
func migrate(ctx context.Context, pool *pgxpool.Pool, schema string) error {
	return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(migrationLock)); err != nil {
			return err
		}
		version, err := schemaVersion(ctx, tx, pgx.Identifier{schema}.Sanitize())
		if err != nil {
			return err
		}
		if version > len(migrations) {
			return fmt.Errorf("%w (schema %d, this one knows up to %d)", ErrNewer, version, len(migrations))
		}
		if version == len(migrations) {
			return nil
		}
		for ; version < len(migrations); version++ {
			if _, err := tx.Exec(ctx, migrations[version]); err != nil {
				return fmt.Errorf("moving to schema %d: %w", version+1, err)
			}
		}
		_, err = tx.Exec(ctx, "UPDATE schema_version SET version = $1", version)
		return err
	})
}

// schemaVersion returns the version of the tables, 0 if they have just been begun. It looks before it creates, since creating
// what is there still asks for the right to.
func schemaVersion(ctx context.Context, tx pgx.Tx, schema string) (int, error) {
	var known, begun bool
	err := tx.QueryRow(ctx, "SELECT to_regnamespace($1) IS NOT NULL, to_regclass($2) IS NOT NULL",
		schema, schema+".schema_version").Scan(&known, &begun)
	if err != nil {
		return 0, err
	}
	if !known {
		if _, err := tx.Exec(ctx, "CREATE SCHEMA "+schema); err != nil {
			return 0, fmt.Errorf("creating its schema: %w", err)
		}
	}
	if !begun {
		_, err := tx.Exec(ctx, "CREATE TABLE schema_version (version integer NOT NULL); INSERT INTO schema_version VALUES (0)")
		return 0, err
	}
	var version int
	err = tx.QueryRow(ctx, "SELECT version FROM schema_version").Scan(&version)
	return version, err
}
