package access

import (
	"crypto/sha256"
	"crypto/subtle"
	"time"
)

// An entry is a token that is known by its hash.
type entry struct {
	way     string // where the entry stands: the settings, or the file
	name    string
	key     string // of its caller
	hash    [sha256.Size]byte
	expires time.Time // zero for never
	rights  rights
}

func newEntry(way, name string, hash [sha256.Size]byte) entry {
	return entry{way: way, name: name, key: keyOf(way, name), hash: hash, rights: rights{all: true}}
}

func (e *entry) expired(now time.Time) bool { return !e.expires.IsZero() && !now.Before(e.expires) }

func (e *entry) caller() Caller {
	return Caller{Name: e.name, Way: "token", key: e.key, hash: e.hash, expires: e.expires, rights: e.rights}
}

// find returns the entry of token, or nil. It compares hashes, and all of them, so that neither content nor length of any
// token shows in the time that this takes.
func find(entries []entry, token string) *entry {
	hash, found := sha256.Sum256([]byte(token)), -1
	for i := range entries {
		found = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(entries[i].hash[:], hash[:]), i, found)
	}
	if found < 0 {
		return nil
	}
	return &entries[found]
}

// granted returns the entry of a grant that [Parse] has let pass.
func granted(grant Grant, tools []Tool) entry {
	e := newEntry("file", grant.Name, grant.hash)
	if grant.Expires != nil {
		e.expires = *grant.Expires
	}
	if grant.Tools == nil && !grant.ReadOnly {
		return e
	}
	e.rights = rights{tools: make(map[string]bool)}
	for _, tool := range tools {
		listed := grant.Tools == nil
		for _, name := range deref(grant.Tools) {
			listed = listed || name == tool.Name
		}
		e.rights.tools[tool.Name] = listed && (tool.Reads || !grant.ReadOnly)
	}
	return e
}

func deref(list *[]string) []string {
	if list == nil {
		return nil
	}
	return *list
}
