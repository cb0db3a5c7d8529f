package idempotency

import (
	"context"
	"fmt"
	"time"
)

// Check reports whether the store can be used now: nil means yes. It opens the store if that is due. While the last use
// went well it only reads; before the first write, and after a failure, it also writes a record and takes it away again, since a
// full or locked disk can still be read. What it finds counts as a use: see [Standby.Degraded]. It takes as long as the
// store does, or ctx allows.
func (s *Standby) Check(ctx context.Context) error {
	store, err := s.opened(ctx)
	if err != nil {
		return err // reported when the opening failed
	}
	s.mu.Lock()
	proven := s.proven
	s.mu.Unlock()
	began := time.Now()
	_, err = store.Find(ctx, Query{Scope: checkScope, Fingerprint: checkScope, Limit: 1})
	if err == nil && !proven {
		err = writable(ctx, store)
	}
	switch {
	case err == nil && !proven:
		s.used(ctx, began, nil)
	case err != nil && !s.Degraded():
		s.used(ctx, began, err) // told once, however often it is checked
	}
	return err
}

// checkScope is the scope of what is written to see whether that can be done. No upstream has it: theirs are longer.
const checkScope = "check"

// writable writes something and takes it away again. Should the process die in between, it is purged like any other record.
func writable(ctx context.Context, store Store) error {
	now := time.Now()
	trial := Record{
		Scope: checkScope, Fingerprint: fmt.Sprintf("check-%x", newVersion()), Generation: 1, State: Abandoned,
		FirstAt: now, LastAt: now, Evidence: "a check of the ledger", Version: newVersion(),
	}
	if _, _, err := store.Put(ctx, trial, 0); err != nil {
		return fmt.Errorf("checking the ledger by a write: %w", err)
	}
	if _, err := store.Delete(ctx, trial); err != nil {
		return fmt.Errorf("checking the ledger by a removal: %w", err)
	}
	return nil
}
