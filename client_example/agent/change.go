package agent

import "slices"

// Change is something that a call changed, or may have changed.
type Change struct {
	Tool string `json:"tool"`
	What string `json:"what"`
	// Confirmed is false while nobody knows whether the change went through.
	Confirmed bool `json:"confirmed"`
	// Check says how a person finds out, as an order without a full stop. Empty for a confirmed change, and if nobody
	// said.
	Check string `json:"check,omitempty"`
}

// changes collects what the calls of a run changed, each with the canonical form of its call.
type changes struct {
	keys []string
	list []Change
}

// note takes up what a call changed. A repeat settles an unconfirmed change only if the tool says so: a second reply that
// was sent does not tell whether the first one was. That the repeat did nothing settles nothing either.
func (c *changes) note(key string, result Result, change Change) {
	change.Confirmed = result.outcome() == Done
	if change.Confirmed {
		change.Check = ""
	}
	if result.outcome() == NotDone || (change.Confirmed && slices.Contains(c.list, change)) {
		return
	}
	for i, known := range c.list {
		if c.keys[i] == key && !known.Confirmed && (!change.Confirmed || result.Settles) {
			c.list[i] = change
			return
		}
	}
	c.keys, c.list = append(c.keys, key), append(c.list, change)
}
