package idempotency

import "time"

// Identity says which call this is.
type Identity struct {
	// Fingerprint is equal for calls that are the same call.
	Fingerprint string
	// Group is what the call acts on, for example a ticket; to this package an opaque string.
	Group string
	// Key returns the key that the upstream is given for a generation of the call, 1 for the first.
	Key func(generation int) string
	// Tool and CallID are those of the [Record].
	Tool, CallID string
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
	// Settled means that the effect was found to have happened after the caller had been told that it is unknown, so that
	// nobody knows yet; the result is kept. The first call that is told makes it Finished.
	Settled State = "settled"
	// Held means that the call was not made, because another one to the same group had to be told first; the next same
	// call is made.
	Held State = "held"
	// Abandoned means that the effect certainly did not happen and another call took its place.
	Abandoned State = "abandoned"
)

// Record is what the ledger knows of one generation of a call. It is a value: changing a copy changes nothing in the
// ledger. It never holds the text of a message.
type Record struct {
	// Scope names the upstream and account that the record is about.
	Scope string
	// Fingerprint and Group are those of the [Identity]. Scope, fingerprint and generation together name the record.
	Fingerprint, Group string
	// Generation counts the times that the same call was made on purpose, from 1.
	Generation int
	// Key is the idempotency key that the upstream was given.
	Key string
	// Tool is the name of the tool that was called.
	Tool string
	// State is where the record stands; "" means that there is no record.
	State State
	// Owner is the process that claimed the call, see [Store]; Lease is until when it may take, if it lives.
	Owner string
	Lease time.Time
	// Attempts counts the requests that were made for it, as far as they were reported.
	Attempts int
	// CallID is the host's name of the call that was made last, "" if it gives none. A repeat with the same name was made by
	// the host, one with another by the model.
	CallID string
	// HostRepeats and ModelRepeats count the calls that were answered from the record without a request, by who repeated.
	HostRepeats, ModelRepeats int
	// FirstAt is the time of the first claim, LastAt the time of the last change.
	FirstAt, LastAt time.Time
	// Result is the answer of a finished call as JSON; nil otherwise.
	Result []byte
	// Evidence says how the state is known, in a word or two for people: "answer", "read back".
	Evidence string
	// Version fences changes: a change is made only if the stored record still has the version that was read. Versions are
	// unique, not ordered.
	Version int64
	// Owned says that the caller of [Ledger.Claim] owns the claim and must end it by Save or Forget. It is not stored.
	Owned bool
}
