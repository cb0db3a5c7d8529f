package idempotency

import (
	"context"
	"time"
)

// Store keeps records. It must be safe for concurrent use, by several processes if it can be shared; what it has said to be
// written must survive the death of the process and, if the medium allows, of the machine. The suite in
// idempotency/storetest says the rest.
type Store interface {
	// Put writes next if what is stored under its scope, fingerprint and generation has the version expected (0: nothing is
	// stored there), in one atomic step. It reports whether it did; if not, it returns the newest generation that is stored
	// under scope and fingerprint instead (the zero Record: none). If ctx ends before the write has begun nothing is written;
	// once begun it is finished. Texts are valid UTF-8 without NUL.
	Put(ctx context.Context, next Record, expected int64) (Record, bool, error)
	// Delete removes the record of that name if it has that version, and reports whether it did.
	Delete(ctx context.Context, record Record) (bool, error)
	// Find returns the records that match, those changed last first.
	Find(ctx context.Context, query Query) ([]Record, error)
	// Purge removes the records of all scopes that were last changed before that time and are not claimed, and returns how
	// many. Of a call of which one generation is kept it keeps all: where the first one is gone, the call could be claimed
	// as if it had never been made. It may leave a part of very many to the next call, so that nobody waits long for it.
	Purge(ctx context.Context, before time.Time) (int, error)
	// Owner names this opening of the store. The name is unique, and stays alive until Close or the death of the process.
	Owner() string
	// Alive reports whether the owner of that name still lives. It may be wrong in saying that a dead one lives, for at
	// most as long as the system takes to free what belonged to it, which can take another look; it must never take a living
	// one for dead.
	Alive(ctx context.Context, owner string) (bool, error)
	// Close ends the owner and frees what the store holds.
	Close() error
}

// Query says which records to find. A field with its zero value limits nothing.
type Query struct {
	Scope, Fingerprint, Group, Key string
	States                         []State
	// Since and Before bound the time of the last change: Since ≤ LastAt < Before.
	Since, Before time.Time
	// Limit is the most records to return. Default 1,000.
	Limit int
}
