package idempotency

import (
	"context"
	"maps"
	"sync"
	"time"
)

// takenClaims are the claims that were made in a store and went on in memory, because the store failed when they were renewed.
type takenClaims struct {
	mu  sync.Mutex
	all map[claim]struct{}
}

// claim names a generation of a call.
type claim struct {
	scope, fingerprint string
	generation         int
}

func claimOf(r Record) claim { return claim{r.Scope, r.Fingerprint, r.Generation} }

func (t *takenClaims) add(r Record) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.all == nil {
		t.all = make(map[claim]struct{})
	}
	t.all[claimOf(r)] = struct{}{}
}

// remove reports whether the claim was there.
func (t *takenClaims) remove(r Record) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, was := t.all[claimOf(r)]
	delete(t.all, claimOf(r))
	return was
}

// keep removes those that memory no longer holds.
func (t *takenClaims) keep(holds func(Record) bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	maps.DeleteFunc(t.all, func(c claim, _ struct{}) bool {
		return !holds(Record{Scope: c.scope, Fingerprint: c.fingerprint, Generation: c.generation})
	})
}

// deleteTaken deletes a claim in the store that memory had taken over, unless somebody else has the call now.
func (s *Standby) deleteTaken(ctx context.Context, record Record) (bool, error) {
	store, err := s.opened(ctx)
	if err != nil {
		return false, err
	}
	current, err := generation(ctx, store, record)
	if err != nil {
		return false, err
	}
	s.wake()
	switch {
	case current.Version == 0:
		return true, nil
	case current.State == Claimed && current.Owner == store.Owner():
		return store.Delete(ctx, current)
	default:
		return false, nil
	}
}

// wake ends a rest of the store, which answers again.
func (s *Standby) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rests = time.Time{}
}
