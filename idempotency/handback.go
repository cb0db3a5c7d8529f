package idempotency

import "context"

// handedBack gives a record that memory stands in for back to the store, if it can be used again, and reports whether the
// store has the call now. Others may have dealt with the call meanwhile: what they wrote stands, unless it is less than what
// memory knows. A call that is under way in memory stays there until it has ended.
func (s *Standby) handedBack(ctx context.Context, record Record) bool {
	kept, ok := s.memory.of(record)
	if !ok || kept.State == Claimed {
		return false
	}
	store, err := s.usable(ctx)
	if err != nil {
		return false
	}
	current, err := generation(ctx, store, kept)
	if err != nil {
		return false
	}
	if current.Version == 0 || kept.outdoes(current, store.Owner()) {
		if _, written, err := store.Put(ctx, kept, current.Version); err != nil || !written {
			return false
		}
	}
	_, _ = s.memory.Delete(ctx, kept)
	s.taken.remove(kept)
	return true
}

// outdoes reports whether r, which could not be written, is more than what stands in its place: how the call ended where
// that is not known, or whatever became of a claim of our own.
func (r Record) outdoes(current Record, owner string) bool {
	return r.Result != nil && current.Result == nil || current.State == Claimed && current.Owner == owner
}

// generation returns that generation of the record's call as the store has it, or the zero Record.
func generation(ctx context.Context, store Store, of Record) (Record, error) {
	all, err := store.Find(ctx, Query{Scope: of.Scope, Fingerprint: of.Fingerprint})
	for _, r := range all {
		if r.Generation == of.Generation {
			return r, err
		}
	}
	return Record{}, err
}
