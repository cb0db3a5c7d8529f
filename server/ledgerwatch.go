package server

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/kitebase/kitebase-mcp/idempotency"
)

const (
	// lookAgain is how old a look at the ledger may be: who watches asks often, and several may.
	lookAgain = time.Second
	// lookWithin is how long a look may take before the ledger counts as one that does not answer.
	lookWithin = 2 * time.Second
)

var errNoAnswer = errors.New("the ledger does not answer in " + lookWithin.String())

// ledgerWatch knows how the ledger stands. It looks in the background, one look at a time, so that a ledger that hangs costs
// who asks no more than the time that they have. It is safe for concurrent use.
type ledgerWatch struct {
	look  func(context.Context) ledgerLook
	start func(func(context.Context)) // runs it in the background

	mu      sync.Mutex
	last    ledgerLook
	looking chan struct{} // closed when the look under way has ended; nil if there is none
	began   time.Time     // when it began
}

// ledgerLook is what a look has shown.
type ledgerLook struct {
	// at is when the look ended, zero if there was none yet.
	at time.Time
	// err is why the ledger cannot be used, nil if it can.
	err error
	// unknowns are those of the last look that found any out, nil if none did.
	unknowns *unknowns
}

// state returns how the ledger stands, by a look that is not older than a second if one comes to its end within patience.
func (w *ledgerWatch) state(patience time.Duration) ledgerLook {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.looking == nil {
		if !w.last.at.IsZero() && time.Since(w.last.at) < lookAgain {
			return w.last
		}
		w.begin()
	}
	looking, began := w.looking, w.began
	w.mu.Unlock()
	timer := time.NewTimer(min(patience, lookWithin-time.Since(began)))
	select {
	case <-looking:
	case <-timer.C:
	}
	timer.Stop()
	w.mu.Lock()
	seen := w.last
	if w.looking == looking && time.Since(began) >= lookWithin {
		seen.at, seen.err = time.Now(), errNoAnswer
	}
	return seen
}

// begin needs the lock.
func (w *ledgerWatch) begin() {
	looking := make(chan struct{})
	w.looking, w.began = looking, time.Now()
	w.start(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, lookWithin)
		defer cancel()
		seen := w.look(ctx)
		seen.at = time.Now()
		w.mu.Lock()
		defer w.mu.Unlock()
		if seen.unknowns == nil {
			seen.unknowns = w.last.unknowns // they are as unknown as before
		}
		w.last, w.looking = seen, nil
		close(looking)
	})
}

// lookAtLedger is the look of a [ledgerWatch].
func (s *Server) lookAtLedger(ctx context.Context) ledgerLook {
	if err := s.store.Check(ctx); err != nil {
		return ledgerLook{err: err}
	}
	open, err := s.unknowns(ctx)
	if err != nil {
		return ledgerLook{err: err}
	}
	return ledgerLook{unknowns: &open}
}

// unknowns are the writes of which nobody knows whether they happened.
type unknowns struct {
	writes  int
	replies int       // those among them that a look at the ticket can settle
	oldest  time.Time // when the oldest of the replies was first tried, zero if there is none
}

// unknowns asks the ledger. At most 1,000 are counted, those that changed last. A change that is harmless to repeat is only
// on record: nothing settles it, and nobody has to.
func (s *Server) unknowns(ctx context.Context) (unknowns, error) {
	var all unknowns
	open, err := s.config.ledger().Open(ctx, "")
	for _, record := range open {
		if record.State != idempotency.Unconfirmed {
			continue
		}
		all.writes++
		if record.Key == "" {
			continue
		}
		all.replies++
		if all.oldest.IsZero() || record.FirstAt.Before(all.oldest) {
			all.oldest = record.FirstAt
		}
	}
	return all, err
}
