PRAGMA auto_vacuum = incremental;
PRAGMA journal_mode = wal;
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
INSERT INTO records VALUES ('https://kitebase.example', 'a', 1, 'KITE-142', '9edb4ee9f524df95', 'reply_to_customer', 'done', '', 0, 1, '', 0, 0, 1760000000000000000, 1760000001000000000, CAST('{"reply_id":"rpl_001"}' AS BLOB), '', 11);
INSERT INTO records VALUES ('https://kitebase.example', 'b', 1, 'KITE-7', '0123456789abcdef', 'reply_to_customer', 'unknown', '', 0, 1, '', 0, 0, 1750000000000000000, 1750000001000000000, NULL, 'no answer came', 12);
PRAGMA application_id = 1802073189;
PRAGMA user_version = 1;
