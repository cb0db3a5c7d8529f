package server

import (
	"context"
	"sync/atomic"

	"github.com/kitebase/kitebase-mcp/idempotency"
)

// openUnknowns asks the ledger, if it was needed before: opening it can take seconds, and fail, which a look at the status
// must not be the reason for. It returns nil if there is no answer. At most 1,000 are counted.
func (s *Server) openUnknowns(ctx context.Context) *int {
	if !s.store.used.Load() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.config.patience())
	defer cancel()
	open, err := s.unknowns(ctx)
	if err != nil {
		s.config.Logger.Warn("the ledger could not be asked for the status", "cause", err)
		return nil
	}
	return &open.writes
}

// usedStore is a store that knows whether it was needed.
type usedStore struct {
	idempotency.Store
	used atomic.Bool
}

// Put is part of [idempotency.Store].
func (s *usedStore) Put(ctx context.Context, next idempotency.Record, expected int64) (idempotency.Record, bool, error) {
	s.used.Store(true)
	return s.Store.Put(ctx, next, expected)
}

// Find is part of [idempotency.Store].
func (s *usedStore) Find(ctx context.Context, query idempotency.Query) ([]idempotency.Record, error) {
	s.used.Store(true)
	return s.Store.Find(ctx, query)
}

// Check reports whether the store can be used, as [idempotency.Standby.Check] does; a store without such a method is read.
func (s *usedStore) Check(ctx context.Context) error {
	s.used.Store(true)
	if store, ok := s.Store.(interface{ Check(context.Context) error }); ok {
		return store.Check(ctx)
	}
	_, err := s.Store.Find(ctx, idempotency.Query{Limit: 1})
	return err
}
