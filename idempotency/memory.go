package idempotency

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Memory is a [Store] in the memory of one process: it forgets everything when the process ends. The zero value is empty
// and ready.
type Memory struct {
	mu      sync.Mutex
	records map[name][]Record // by generation, the newest last
}

type name struct{ scope, fingerprint string }

// Put is part of [Store]. Its error is always nil.
func (m *Memory) Put(_ context.Context, next Record, expected int64) (Record, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	next.Owned = false
	at := name{next.Scope, next.Fingerprint}
	all := m.records[at]
	i := slices.IndexFunc(all, func(r Record) bool { return r.Generation == next.Generation })
	switch {
	case i >= 0 && all[i].Version == expected:
		all[i] = next
	case i < 0 && expected == 0:
		if m.records == nil {
			m.records = make(map[name][]Record)
		}
		all = append(all, next)
		slices.SortFunc(all, func(a, b Record) int { return a.Generation - b.Generation })
		m.records[at] = all
	case len(all) == 0:
		return Record{}, false, nil
	default:
		return all[len(all)-1], false, nil
	}
	return next, true, nil
}

// holds reports whether this generation of the record's call is here.
func (m *Memory) holds(record Record) bool {
	_, ok := m.of(record)
	return ok
}

// of returns this generation of the record's call as it is here.
func (m *Memory) of(record Record) (Record, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.records[name{record.Scope, record.Fingerprint}] {
		if r.Generation == record.Generation {
			return r, true
		}
	}
	return Record{}, false
}

// Delete is part of [Store]. Its error is always nil.
func (m *Memory) Delete(_ context.Context, record Record) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := name{record.Scope, record.Fingerprint}
	all := m.records[at]
	i := slices.IndexFunc(all, func(r Record) bool { return r.Generation == record.Generation && r.Version == record.Version })
	if i < 0 {
		return false, nil
	}
	m.keep(at, slices.Delete(all, i, i+1))
	return true, nil
}

func (m *Memory) keep(at name, all []Record) {
	if len(all) == 0 {
		delete(m.records, at)
		return
	}
	m.records[at] = all
}

// Find is part of [Store]. Its error is always nil.
func (m *Memory) Find(_ context.Context, query Query) ([]Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var found []Record
	if query.Scope != "" && query.Fingerprint != "" {
		found = matching(m.records[name{query.Scope, query.Fingerprint}], query)
	} else {
		for _, all := range m.records {
			found = append(found, matching(all, query)...)
		}
	}
	slices.SortStableFunc(found, newestFirst)
	limit := query.Limit
	if limit <= 0 {
		limit = 1000
	}
	return found[:min(len(found), limit)], nil
}

func newestFirst(a, b Record) int {
	if c := b.LastAt.Compare(a.LastAt); c != 0 {
		return c
	}
	return b.Generation - a.Generation
}

func matching(all []Record, q Query) []Record {
	var found []Record
	for _, r := range all {
		if (q.Scope == "" || r.Scope == q.Scope) &&
			(q.Fingerprint == "" || r.Fingerprint == q.Fingerprint) &&
			(q.Group == "" || r.Group == q.Group) &&
			(q.Key == "" || r.Key == q.Key) &&
			(len(q.States) == 0 || slices.Contains(q.States, r.State)) &&
			(q.Since.IsZero() || !r.LastAt.Before(q.Since)) &&
			(q.Before.IsZero() || r.LastAt.Before(q.Before)) {
			found = append(found, r)
		}
	}
	return found
}

// Purge is part of [Store]. Its error is always nil.
func (m *Memory) Purge(_ context.Context, before time.Time) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	removed := 0
	for at, all := range m.records {
		if !slices.ContainsFunc(all, func(r Record) bool { return r.State == Claimed || !r.LastAt.Before(before) }) {
			removed += len(all)
			delete(m.records, at)
		}
	}
	return removed, nil
}

// Owner is part of [Store]. There is one owner: this process.
func (m *Memory) Owner() string { return "this process" }

// Alive is part of [Store]: who asks, lives.
func (m *Memory) Alive(_ context.Context, owner string) (bool, error) { return owner == m.Owner(), nil }

// Close is part of [Store]. It does nothing.
func (m *Memory) Close() error { return nil }
