package idempotency

import "time"

// Identity says which call this is.
type Identity struct {
	// Fingerprint is equal for calls that are the same call. It names the record in the ledger.
	Fingerprint string
	// Group is what the call acts on, for example a ticket; to this package an opaque string.
	Group string
	// Key returns the key that the upstream is given for a generation of the call, 1 for the first.
	Key func(generation int) string
}

// State is where a record stands.
type State string

// The states of a record. There is no failed state: a certain failure is forgotten.
const (
	// Claimed means that its owner may be sending now.
	Claimed State = "claimed"
	// Finished means that the effect certainly happened; the result is kept.
	Finished State = "done"
	// Unconfirmed means that the effect may have happened.
	Unconfirmed State = "unknown"
)

// Record is what the ledger knows of one call. It is a value: changing a copy changes nothing in the ledger.
type Record struct {
	// Key is the idempotency key that the upstream was given.
	Key string
	// Fingerprint and Group are those of the [Identity].
	Fingerprint, Group string
	// Generation counts the times that the same call was made on purpose, from 1.
	Generation int
	// State is where the record stands; "" means that there is no record.
	State State
	// FirstAt is the time of the claim, LastAt the time of the last change.
	FirstAt, LastAt time.Time
	// Result is the answer of a finished call as JSON; nil otherwise.
	Result []byte
	// Owned says that the caller of Claim owns the claim and must end it by Save or Forget.
	Owned bool

	version int64 // fences: a change is refused when the record has moved on
}
