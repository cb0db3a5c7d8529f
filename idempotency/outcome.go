package idempotency

// Outcome says what is known about the effect of a call on the upstream. It is the one value that retry, circuit
// breaker, ledger and texts share. The zero value is Unknown, the careful one.
type Outcome uint8

const (
	// Unknown means that the request may have had its effect: it was written, and no answer that can be read came back.
	Unknown Outcome = iota
	// NotDone means that the effect certainly did not happen.
	NotDone
	// Done means that the effect certainly happened.
	Done
)

// String returns the word that stands in results, logs and the ledger: unknown, not_done or done.
func (o Outcome) String() string {
	switch o {
	case NotDone:
		return "not_done"
	case Done:
		return "done"
	default:
		return "unknown"
	}
}
