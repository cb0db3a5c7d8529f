package postgres

import "time"

// Watch decides from looks at one lock, at times after the first, whether its owner is dead.
func Watch(looks []Look) []bool {
	w, start := newWatch(), time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	var dead []bool
	for _, l := range looks {
		dead = append(dead, w.dead(l.Owner, l.Free, start.Add(l.After)))
	}
	return dead
}

// Look is what was seen of the lock of an owner.
type Look struct {
	Owner string
	Free  bool
	After time.Duration
}
