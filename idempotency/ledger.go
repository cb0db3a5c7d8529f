package idempotency

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// ErrMoved is returned when a record was changed by someone else since it was read, so that the change was not made.
var ErrMoved = errors.New("the ledger record has moved on")

// Config says how a [Ledger] keeps its records. The zero value works.
type Config struct {
	// Scope names the upstream and account, for example by its base URL. It must not hold a secret. Default "".
	Scope string
	// Lease is how long a claim lasts beyond its last renewal. It must be longer than any call. Default 1m.
	Lease time.Duration
	// Retention is how long a record is kept after its last change; it should be at least the window in which a repeat is
	// recognised. Default 48h, twice the default window; -1 keeps all.
	Retention time.Duration
}

// Ledger is the state machine of the records in a [Store]: who may send, who is dead, what is over. It is safe for
// concurrent use.
type Ledger struct {
	store  Store
	config Config

	mu     sync.Mutex
	purged time.Time
}

// NewLedger returns a ledger on store. It does not touch the store.
func NewLedger(store Store, config Config) *Ledger {
	config.Lease = cmp.Or(config.Lease, time.Minute)
	config.Retention = cmp.Or(config.Retention, 48*time.Hour)
	return &Ledger{store: store, config: config}
}

// Claim makes the caller the owner of the call id if its newest record is still last (the zero Record: there is none), and
// returns the record as it then stands: Owned says whether the claim succeeded; otherwise someone else was first.
//
// Claiming after a finished or settled record begins a new generation, after any other the same one again. A claim of a dead owner, or
// one whose lease has run out, is returned as unconfirmed: its owner may have sent. Claim never waits for another owner.
func (l *Ledger) Claim(ctx context.Context, id Identity, last Record) (Record, error) {
	l.purge(ctx)
	now := time.Now()
	next := Record{
		Scope: l.config.Scope, Fingerprint: id.Fingerprint, Group: id.Group, Tool: id.Tool, CallID: id.CallID,
		Generation: max(1, last.Generation),
		State:      Claimed, Owner: l.store.Owner(), Lease: now.Add(l.config.Lease), FirstAt: now, LastAt: now, Version: newVersion(),
	}
	expected := last.Version
	if last.State == Finished || last.State == Settled {
		next.Generation, expected = last.Generation+1, 0
	}
	next.Key = id.Key(next.Generation)
	stored, written, err := l.store.Put(ctx, next, expected)
	if err != nil {
		return Record{}, fmt.Errorf("claiming %s: %w", next.Key, err)
	}
	if !written {
		return l.living(ctx, stored)
	}
	next.Owned = true
	return next, nil
}

// Look returns the newest generation of the call as it stands now, like a [Ledger.Claim] that claims nothing; the zero
// Record if there is none.
func (l *Ledger) Look(ctx context.Context, fingerprint string) (Record, error) {
	found, err := l.store.Find(ctx, Query{Scope: l.config.Scope, Fingerprint: fingerprint})
	if err != nil || len(found) == 0 {
		return Record{}, err
	}
	return l.living(ctx, slices.MaxFunc(found, func(a, b Record) int { return a.Generation - b.Generation }))
}

// Earlier returns the generations of the call before that of record, as far as they are kept.
func (l *Ledger) Earlier(ctx context.Context, record Record) ([]Record, error) {
	if record.Generation <= 1 {
		return nil, nil
	}
	all, err := l.store.Find(ctx, Query{Scope: l.config.Scope, Fingerprint: record.Fingerprint})
	return slices.DeleteFunc(all, func(r Record) bool { return r.Generation >= record.Generation }), err
}

// Open returns the records of a group ("": of all) whose outcome somebody still has to learn: the unconfirmed ones, the
// settled ones, and the claims of living owners. What changed last comes first.
func (l *Ledger) Open(ctx context.Context, group string) ([]Record, error) {
	open, err := l.store.Find(ctx, Query{
		Scope: l.config.Scope, Group: group, States: []State{Claimed, Unconfirmed, Settled},
	})
	for i := range open {
		if err == nil {
			open[i], err = l.living(ctx, open[i])
		}
	}
	return open, err
}

// proven is how long a claim that was written may be relied on without another look.
const proven = time.Second

// Hold renews the lease of an owned record until release is called, which returns the record as it then stands. stands is for
// the last moment before something is done in the name of the record: if the last renewal began more than a second ago, for
// instance because this process was stopped, it renews once more. Its error is [ErrMoved] if the record has passed to
// somebody else.
func (l *Ledger) Hold(ctx context.Context, record Record) (stands func(context.Context) error, release func() Record) {
	// One place, held while the store works: a channel rather than a mutex, because synctest lets time pass for those who
	// wait for a channel only.
	turn := make(chan struct{}, 1)
	var timer *time.Timer
	renew := func(ctx context.Context) error {
		record.Lease = time.Now().Add(l.config.Lease)
		return l.Save(ctx, &record)
	}
	turn <- struct{}{}
	defer func() { <-turn }()
	timer = time.AfterFunc(l.config.Lease/3, func() {
		turn <- struct{}{}
		defer func() { <-turn }()
		if timer != nil && !errors.Is(renew(ctx), ErrMoved) {
			timer.Reset(l.config.Lease / 3)
		}
	})
	stands = func(ctx context.Context) error {
		turn <- struct{}{}
		defer func() { <-turn }()
		if time.Since(record.LastAt) < proven {
			return nil
		}
		return renew(ctx)
	}
	return stands, func() Record {
		turn <- struct{}{}
		defer func() { <-turn }()
		timer.Stop()
		timer = nil
		return record
	}
}

// living returns record, as unconfirmed if it is a claim whose owner can no longer end it.
func (l *Ledger) living(ctx context.Context, record Record) (Record, error) {
	if record.State != Claimed {
		return record, nil
	}
	if time.Now().Before(record.Lease) {
		alive, err := l.store.Alive(ctx, record.Owner)
		if err != nil || alive {
			return record, err
		}
	}
	taken := record
	taken.State, taken.Owner, taken.Evidence = Unconfirmed, "", "its process ended"
	switch err := l.Save(ctx, &taken); {
	case errors.Is(err, ErrMoved): // someone else was quicker
		return l.Look(ctx, record.Fingerprint)
	case err != nil:
		return record, err
	}
	return taken, nil
}

// Save writes where record now stands and gives it its new version. It returns [ErrMoved] if someone else changed it.
func (l *Ledger) Save(ctx context.Context, record *Record) error {
	next := *record
	next.LastAt, next.Version = time.Now(), newVersion()
	_, written, err := l.store.Put(ctx, next, record.Version)
	switch {
	case err != nil:
		return fmt.Errorf("recording %s as %s: %w", record.Key, record.State, err)
	case !written:
		return ErrMoved
	}
	*record = next
	return nil
}

// Note writes down how a call ended that nobody repeats by its record, so that there is one place which says what was
// done. Scope, version, generation and times of record are set by it.
func (l *Ledger) Note(ctx context.Context, record Record) error {
	record.Version, record.FirstAt, record.LastAt = newVersion(), time.Now(), time.Now()
	record.Scope, record.Generation = l.config.Scope, 1
	record.Fingerprint = fmt.Sprintf("note-%x", record.Version)
	if _, _, err := l.store.Put(ctx, record, 0); err != nil {
		return fmt.Errorf("noting a call of %s: %w", record.Tool, err)
	}
	return nil
}

// Forget removes an owned record after a certain failure. It returns [ErrMoved] if someone else changed it since.
func (l *Ledger) Forget(ctx context.Context, record Record) error {
	removed, err := l.store.Delete(ctx, record)
	switch {
	case err != nil:
		return fmt.Errorf("forgetting %s: %w", record.Key, err)
	case !removed:
		return ErrMoved
	}
	return nil
}

// purge removes old records, at most once in ten minutes. That it fails is no failure of a call: the next one tries again.
func (l *Ledger) purge(ctx context.Context) {
	l.mu.Lock()
	now := time.Now()
	due := l.config.Retention > 0 && now.Sub(l.purged) >= 10*time.Minute
	if due {
		l.purged = now
	}
	l.mu.Unlock()
	if due {
		_, _ = l.store.Purge(ctx, now.Add(-l.config.Retention))
	}
}

func newVersion() int64 { return 1 + rand.Int64N(1<<62) }
