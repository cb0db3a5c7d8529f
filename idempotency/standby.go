package idempotency

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// reopenAfter is how long a [Standby] leaves a store alone that could not be opened.
const reopenAfter = 30 * time.Second

// openWithin is how long the opening of a store may keep a call waiting.
const openWithin = 5 * time.Second

// A use of the store that failed after slowUse or more makes the claims and looks of the next restFor do without it, so that
// a store which went silent does not keep every call waiting, and none twice. What has happened is written down all the same,
// if it can be.
const (
	slowUse = 2 * time.Second
	restFor = 10 * time.Second
)

// Standby is a [Store] that opens another one when it is first needed, and stands in for it with memory while that one
// cannot be used. What it had to keep in memory it hands back when the call is asked for again and the store works: until
// then memory has the record, and others do not see it.
//
// Memory recognises a repeat only while this process lives. Where that is not enough, because nothing else recognises one,
// set Strict: then a claim that cannot be written is an error.
type Standby struct {
	// Open opens the store. Required.
	Open func(context.Context) (Store, error)
	// Strict makes no claims in memory; how a call ended is still remembered there. Default false.
	Strict bool
	// Failed is told each time that the store cannot be used. Default: nobody is told.
	Failed func(error)

	memory Memory
	taken  takenClaims

	mu      sync.Mutex
	store   Store
	opening chan struct{} // closed when the opening under way has ended; nil if there is none
	tried   time.Time
	err     error     // of the last opening
	failed  bool      // the last use of the store failed
	proven  bool      // something was written to the store, and no use of it has failed since
	rests   time.Time // until when the store is left alone
	closed  bool
}

// Degraded reports whether records are kept in memory now, because the store could not be used.
func (s *Standby) Degraded() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed
}

// opened returns the store, opening it if that is due. An opening that takes too long goes on without the caller; the store
// is used from then on when it succeeds after all.
func (s *Standby) opened(ctx context.Context) (Store, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, errClosed
	case s.store != nil:
		return s.store, nil
	case s.opening == nil && s.err != nil && time.Since(s.tried) < reopenAfter:
		return nil, s.err
	case s.opening == nil:
		s.opening, s.tried = make(chan struct{}), time.Now()
		go s.open(context.WithoutCancel(ctx))
	case time.Since(s.tried) >= openWithin:
		return nil, errSlow // it hangs: who comes later does not wait as well
	}
	opening := s.opening
	s.mu.Unlock()
	timer := time.NewTimer(openWithin)
	defer timer.Stop()
	select {
	case <-opening:
		s.mu.Lock()
		return s.store, s.err
	case <-timer.C:
		s.mu.Lock()
		s.report(errSlow)
		return nil, errSlow
	}
}

// open opens the store and says so.
func (s *Standby) open(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, openWithin)
	defer cancel()
	store, err := s.Open(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.opening)
	s.opening = nil
	switch {
	case err != nil:
		s.err = fmt.Errorf("opening the ledger: %w", err)
		s.report(s.err)
	case s.closed:
		_ = store.Close() // nobody is left to use it
		s.err = errClosed
	default:
		s.store, s.err = store, nil
	}
}

func (s *Standby) report(err error) {
	s.failed, s.proven = true, false
	if s.Failed != nil {
		s.Failed(err)
	}
}

// usable is opened for those who can do without the store while it rests.
func (s *Standby) usable(ctx context.Context) (Store, error) {
	s.mu.Lock()
	resting := time.Now().Before(s.rests)
	s.mu.Unlock()
	if resting {
		return nil, errResting
	}
	return s.opened(ctx)
}

// used notes whether the store could be written to, or that it could not be used. That a caller went away in the middle says nothing about it.
func (s *Standby) used(ctx context.Context, began time.Time, err error) {
	if err != nil && errors.Is(ctx.Err(), context.Canceled) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		s.failed, s.proven, s.rests = false, true, time.Time{}
		return
	}
	if time.Since(began) >= slowUse {
		s.rests = time.Now().Add(restFor)
	}
	s.report(err)
}

// Put is part of [Store].
func (s *Standby) Put(ctx context.Context, next Record, expected int64) (Record, bool, error) {
	if s.memory.holds(next) && !s.handedBack(ctx, next) {
		if kept, _ := s.memory.of(next); s.Strict && next.State == Claimed && kept.Version == expected {
			return Record{}, false, errKept
		}
		return s.memory.Put(ctx, next, expected)
	}
	get := s.opened
	if next.State == Claimed {
		get = s.usable
	}
	store, err := get(ctx)
	if err == nil {
		var stored Record
		var written bool
		began := time.Now()
		stored, written, err = store.Put(ctx, next, expected)
		if s.used(ctx, began, err); err == nil {
			return stored, written, nil
		}
	}
	if s.Strict && next.State == Claimed {
		return Record{}, false, err
	}
	stored, written, _ := s.memory.Put(ctx, next, 0)
	if next.State == Claimed {
		if written && expected != 0 {
			s.taken.add(next)
		}
		return stored, written, nil
	}
	return stored, written, err // what has happened is not recorded where it should be, and that must be told
}

// Delete is part of [Store]. A claim that memory took over from the store is deleted in both: while memory had it, somebody may
// have taken it for that of a dead process, and made the call. Then it is not deleted, and if the store cannot be asked, that is
// an error.
func (s *Standby) Delete(ctx context.Context, record Record) (bool, error) {
	if s.memory.holds(record) {
		removed, _ := s.memory.Delete(ctx, record)
		if removed && s.taken.remove(record) {
			return s.deleteTaken(ctx, record)
		}
		return removed, nil
	}
	store, err := s.opened(ctx)
	if err != nil {
		return false, err
	}
	removed, err := store.Delete(ctx, record)
	if err == nil {
		s.wake()
	}
	return removed, err
}

// Find is part of [Store]. Without Strict, a store that cannot be used holds nothing.
func (s *Standby) Find(ctx context.Context, query Query) ([]Record, error) {
	remembered, _ := s.memory.Find(ctx, query)
	store, err := s.usable(ctx)
	if err == nil {
		var found []Record
		began := time.Now()
		if found, err = store.Find(ctx, query); err == nil {
			// A write that failed may have taken effect. What memory then took over is here and not there.
			return append(remembered, slices.DeleteFunc(found, s.memory.holds)...), nil
		}
		s.used(ctx, began, err)
	}
	if s.Strict {
		return nil, err
	}
	return remembered, nil
}

// Purge is part of [Store].
func (s *Standby) Purge(ctx context.Context, before time.Time) (int, error) {
	forgotten, _ := s.memory.Purge(ctx, before)
	store, err := s.usable(ctx)
	if err != nil {
		return forgotten, err
	}
	s.taken.keep(s.memory.holds)
	began := time.Now()
	removed, err := store.Purge(ctx, before)
	if err != nil {
		s.used(ctx, began, err)
	}
	return forgotten + removed, err
}

// Owner is part of [Store].
func (s *Standby) Owner() string {
	if store, err := s.opened(context.Background()); err == nil {
		return store.Owner()
	}
	return s.memory.Owner()
}

// Alive is part of [Store].
func (s *Standby) Alive(ctx context.Context, owner string) (bool, error) {
	if owner == s.memory.Owner() {
		return true, nil
	}
	store, err := s.opened(ctx)
	if err != nil {
		return false, err
	}
	return store.Alive(ctx, owner)
}

var (
	errKept    = errors.New("what is known of the call could not be written yet, so it cannot be claimed")
	errClosed  = errors.New("the ledger is closed")
	errSlow    = errors.New("opening the ledger takes too long; check its disk")
	errResting = errors.New("the ledger has just kept a call waiting in vain, so it is left alone for some seconds")
)

// Close closes the store if it was opened.
func (s *Standby) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.store == nil {
		return nil
	}
	return s.store.Close()
}
