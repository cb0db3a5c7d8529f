package idempotency

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"
)

// ErrMoved is returned when a record was changed by someone else since it was read, so that the change was not made.
var ErrMoved = errors.New("the ledger record has moved on")

// DefaultRetention is how long [Memory] keeps a record when no other time is given: twice the default window.
const DefaultRetention = 48 * time.Hour

// Memory is a ledger in the memory of one process: it forgets everything when the process ends. It is safe for
// concurrent use and starts no goroutine.
type Memory struct {
	retention time.Duration

	mu      sync.Mutex
	records map[string]Record // by fingerprint, the newest generation
	version int64
	purged  time.Time
}

// NewMemory returns an empty ledger that keeps a record for retention after its last change. Zero or less means
// [DefaultRetention]; it should be at least the window in which a repeat is recognised.
func NewMemory(retention time.Duration) *Memory {
	if retention <= 0 {
		retention = DefaultRetention
	}
	return &Memory{retention: retention, records: make(map[string]Record)}
}

// Claim makes the caller the owner of the call id if the ledger's record of it is still last (the zero Record: no
// record yet), and returns the record as it then stands: Owned says whether the claim succeeded, otherwise someone else
// was first. Claiming after a finished record begins a new generation, after an unconfirmed one the same generation
// again. It never waits and its error is always nil.
func (m *Memory) Claim(_ context.Context, id Identity, last Record) (Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	m.purge(now)
	current := m.records[id.Fingerprint]
	if current.version != last.version {
		return current, nil
	}
	generation := max(1, last.Generation)
	if last.State == Finished {
		generation++
	}
	claimed := Record{
		Key: id.Key(generation), Fingerprint: id.Fingerprint, Group: id.Group,
		Generation: generation, State: Claimed, FirstAt: now,
	}
	claimed = m.store(claimed, now)
	claimed.Owned = true
	return claimed, nil
}

// Save records where an owned or settled record now stands. It returns [ErrMoved] if someone else changed it since.
func (m *Memory) Save(_ context.Context, record Record) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.records[record.Fingerprint].version != record.version {
		return ErrMoved
	}
	m.store(record, time.Now())
	return nil
}

// Forget removes an owned record after a certain failure. It returns [ErrMoved] if someone else changed it since.
func (m *Memory) Forget(_ context.Context, record Record) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.records[record.Fingerprint].version != record.version {
		return ErrMoved
	}
	delete(m.records, record.Fingerprint)
	return nil
}

func (m *Memory) store(record Record, now time.Time) Record {
	m.version++
	record.version, record.LastAt, record.Owned = m.version, now, false
	m.records[record.Fingerprint] = record
	return record
}

// purge removes what is older than the retention, at most once a minute, so that memory stays bounded.
func (m *Memory) purge(now time.Time) {
	if now.Sub(m.purged) < time.Minute {
		return
	}
	m.purged = now
	maps.DeleteFunc(m.records, func(_ string, r Record) bool {
		return r.State != Claimed && now.Sub(r.LastAt) > m.retention
	})
}
