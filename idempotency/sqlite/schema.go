package sqlite

import (
	"context"
	"database/sql"
	"fmt"
)

// applicationID stands in the header of the file and tells a ledger from the database of another program: "kite".
const applicationID = 0x6b697465

// migrations bring a file from schema version i to i+1. Those that were released are never changed, only added to.
//
// Each index is paid for by every claim and completion, in pages that must reach the disk. So only what a call asks for has
// one: its own record, and what is open for its group. Lists and purges read the whole table, beside the writers.
var migrations = []string{`
CREATE TABLE records (
	scope         TEXT NOT NULL,
	fingerprint   TEXT NOT NULL,
	generation    INTEGER NOT NULL,
	group_name    TEXT NOT NULL,
	key           TEXT NOT NULL,
	tool          TEXT NOT NULL,
	state         TEXT NOT NULL,
	owner         TEXT NOT NULL,
	lease         INTEGER NOT NULL,
	attempts      INTEGER NOT NULL,
	call_id       TEXT NOT NULL,
	host_repeats  INTEGER NOT NULL,
	model_repeats INTEGER NOT NULL,
	first_at      INTEGER NOT NULL,
	last_at       INTEGER NOT NULL,
	result        BLOB,
	evidence      TEXT NOT NULL,
	version       INTEGER NOT NULL,
	PRIMARY KEY (scope, fingerprint, generation)
) STRICT;
CREATE INDEX records_by_group ON records (group_name);
CREATE INDEX records_by_key ON records (key);
CREATE INDEX records_by_age ON records (last_at);
CREATE INDEX records_not_done ON records (state, last_at) WHERE state <> 'done';
`, `
DROP INDEX records_by_group;
DROP INDEX records_by_key;
DROP INDEX records_by_age;
DROP INDEX records_not_done;
CREATE INDEX records_not_done ON records (group_name) WHERE state <> 'done';
`}

// migrate brings the schema up to date. The caller holds the lock file.
func migrate(ctx context.Context, conn *sql.Conn) error {
	version, err := schemaVersion(ctx, conn)
	if err != nil {
		return err
	}
	if version == 0 {
		// It must come before the first table, and cannot be changed later.
		if _, err := conn.ExecContext(ctx, "PRAGMA auto_vacuum = incremental"); err != nil {
			return err
		}
	}
	var mode string
	if err := conn.QueryRowContext(ctx, "PRAGMA journal_mode = wal").Scan(&mode); err != nil {
		return err
	}
	if mode != "wal" {
		return fmt.Errorf("the file system does not allow a write-ahead log (journal mode %s)", mode)
	}
	for ; version < len(migrations); version++ {
		sql := fmt.Sprintf("BEGIN IMMEDIATE; %s PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT",
			migrations[version], applicationID, version+1)
		if _, err := conn.ExecContext(ctx, sql); err != nil {
			return fmt.Errorf("moving to schema %d: %w", version+1, err)
		}
	}
	return nil
}

// schemaVersion returns the version of the schema, 0 for a fresh file, or why the file must not be touched.
func schemaVersion(ctx context.Context, conn *sql.Conn) (int, error) {
	var application, version, tables int
	err := conn.QueryRowContext(ctx, "SELECT (SELECT application_id FROM pragma_application_id), "+
		"(SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema)",
	).Scan(&application, &version, &tables)
	switch {
	case err != nil:
		return 0, err
	case application == applicationID && version > len(migrations):
		return 0, fmt.Errorf("%w (schema %d, this one knows up to %d)", ErrNewer, version, len(migrations))
	case application != applicationID && (application != 0 || version != 0 || tables > 0):
		return 0, ErrForeign
	}
	return version, nil
}
