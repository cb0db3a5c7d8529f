package storetest

import (
	"crypto/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/idempotency"
)

// Model runs a program on store and on an [idempotency.Memory] side by side: whatever it is, both answer the same. Each four
// bytes of the program are one operation; text and result are what some of the records hold. It leaves nothing behind in store,
// which may be used for many programs, one after the other.
func Model(t *testing.T, store idempotency.Store, program []byte, text string, result []byte) {
	t.Helper()
	m := &modelled{store: store, scope: rand.Text(), at: noon, versions: []int64{0}, result: result}
	m.text = strings.ReplaceAll(strings.ToValidUTF8(text, ""), "\x00", "")
	for op := range slices.Chunk(program[:len(program)/4*4], 4) {
		m.at = m.at.Add(time.Second)
		switch op[0] % 8 {
		case 0, 1, 2, 3:
			m.put(t, op)
		case 4:
			m.remove(t, op)
		case 5:
			m.purge(t, op)
		default:
			m.find(t, op)
		}
	}
	for _, r := range find(t, &m.memory, idempotency.Query{}) {
		removed, err := store.Delete(t.Context(), r)
		require.NoError(t, err)
		require.True(t, removed, "the store has lost %+v", r)
	}
	require.Empty(t, find(t, store, idempotency.Query{Scope: m.scope}), "the store has what the model has not")
}

type modelled struct {
	store    idempotency.Store
	memory   idempotency.Memory // the model
	scope    string
	text     string
	result   []byte
	at       time.Time
	versions []int64 // that were ever used, and none
}

func (m *modelled) states() []idempotency.State {
	return []idempotency.State{
		idempotency.Claimed, idempotency.Finished, idempotency.Unconfirmed, idempotency.Settled, idempotency.Held, idempotency.Abandoned,
	}
}

// record returns a record named by the operation, with other fields by it too.
func (m *modelled) record(op []byte) idempotency.Record {
	r := idempotency.Record{
		Scope: m.scope, Fingerprint: string('a' + rune(op[1]%3)), Group: string('A' + rune(op[1]>>2%2)), Generation: 1 + int(op[1]>>4%3),
		Key: string('k' + rune(op[2]%3)), State: m.states()[int(op[2]>>2)%6], Attempts: int(op[2]), FirstAt: noon, LastAt: m.at, Version: version(),
	}
	if op[2]&1 == 0 {
		r.Owner, r.CallID, r.Tool, r.Evidence = m.text, m.text, m.text, m.text
		r.Result = m.result
	}
	return r
}

// expected picks a version that was used before, more often the latest ones.
func (m *modelled) expected(op []byte) int64 {
	if op[3]%2 == 0 {
		return m.versions[0]
	}
	return m.versions[max(0, len(m.versions)-1-int(op[3]>>1)%len(m.versions))]
}

func (m *modelled) put(t *testing.T, op []byte) {
	t.Helper()
	next, expected := m.record(op), m.expected(op)
	want, wantWritten, _ := m.memory.Put(t.Context(), next, expected)
	got, written, err := m.store.Put(t.Context(), next, expected)
	require.NoError(t, err)
	require.Equal(t, wantWritten, written)
	require.Equal(t, want, got)
	if written {
		m.versions = append(m.versions, next.Version)
	}
}

func (m *modelled) remove(t *testing.T, op []byte) {
	t.Helper()
	r := m.record(op)
	r.Version = m.expected(op)
	want, _ := m.memory.Delete(t.Context(), r)
	got, err := m.store.Delete(t.Context(), r)
	require.NoError(t, err)
	require.Equal(t, want, got)
}

func (m *modelled) purge(t *testing.T, op []byte) {
	t.Helper()
	before := m.at.Add(-time.Duration(op[1]%8) * time.Second)
	want, _ := m.memory.Purge(t.Context(), before)
	got, err := m.store.Purge(t.Context(), before)
	require.NoError(t, err)
	require.Equal(t, want, got)
}

func (m *modelled) find(t *testing.T, op []byte) {
	t.Helper()
	like := m.record(op)
	query := idempotency.Query{Scope: m.scope}
	for bit, limit := range []func(){
		func() { query.Fingerprint = like.Fingerprint },
		func() { query.Group = like.Group },
		func() { query.Key = like.Key },
		func() { query.States = m.states()[int(op[2]>>2)%6:] },
		func() { query.Since = m.at.Add(-time.Duration(op[2]%16) * time.Second) },
		func() { query.Before = m.at.Add(-time.Duration(op[1]%8) * time.Second) },
		func() { query.Limit = 1 + int(op[2]%4) },
	} {
		if op[3]>>bit&1 == 1 {
			limit()
		}
	}
	require.Equal(t, find(t, &m.memory, query), find(t, m.store, query), "%+v", query)
}
