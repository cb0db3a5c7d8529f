package main_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// want is a reply that an agent wants to be sent once.
type want struct {
	ticket, text string
	gaveUp       bool // when it was told that nobody knows
	sent         bool // as it turned out
}

// told is a call, and what became of it.
type told struct {
	*want
	server    int
	asked, at time.Time
	answered  bool   // else the server died
	id        string // of the reply that is told as sent
	again     bool   // it was sent before
	outcome   string
	wait      time.Duration
	attempts  int
	words     string
}

// agent sends its share of the replies, one after the other.
func (c *chaos) agent(dice *rand.Rand, n int) {
	var calls sync.WaitGroup
	for i := n; i < c.replies; i += c.agents {
		w := &want{ticket: fmt.Sprintf("KITE-%d", 101+dice.IntN(40)), text: fmt.Sprintf("Part %d of what was promised.", i)}
		c.mu.Lock()
		c.wants = append(c.wants, w)
		c.mu.Unlock()
		c.insist(dice, w, &calls)
		pause(upTo(dice, 500*time.Millisecond))
	}
	calls.Wait()
}

// insist makes the call until the reply is told as sent, and at times once more, or gives up when nobody knows. It goes to
// another server each time, and not always with the patience to wait for the answer.
func (c *chaos) insist(dice *rand.Rand, w *want, calls *sync.WaitGroup) {
	for {
		answered := make(chan told, 1)
		server := dice.IntN(len(c.servers))
		calls.Go(func() {
			t := c.ask(server, w)
			c.mu.Lock()
			c.told = append(c.told, t)
			c.mu.Unlock()
			answered <- t
		})
		patience := chaosWatchdog
		if dice.IntN(5) == 0 {
			patience = upTo(dice, 2*time.Second)
		}
		select {
		case t := <-answered:
			switch {
			case t.id != "" && dice.IntN(4) > 0:
				return
			case t.outcome == "unknown" && dice.IntN(8) == 0:
				w.gaveUp = true
				return
			}
			pause(min(t.wait, time.Second))
		case <-time.After(patience):
		}
	}
}

// ask makes one call.
func (c *chaos) ask(server int, w *want) told {
	t := told{want: w, server: server, asked: time.Now()}
	a, answered := c.servers[server].call(w.ticket, w.text)
	t.at = time.Now()
	if t.answered = answered; !answered {
		return t
	}
	var r result
	var reply sent
	if a.Error != nil || json.Unmarshal(a.Result, &r) != nil || len(r.Content) != 1 || r.IsError == (r.Meta.Error == nil) {
		t.words = "unreadable: " + a.line
		return t
	}
	t.words = r.text()
	if r.IsError {
		t.outcome, t.attempts = r.Meta.Error.Outcome, r.Meta.Error.Attempts
		t.wait = time.Duration(r.Meta.Error.RetryAfterMS) * time.Millisecond
		return t
	}
	if json.Unmarshal(r.Structured, &reply) != nil || reply.ReplyID == "" || r.Meta.Attempts == nil {
		t.words = "unreadable: " + a.line
		return t
	}
	t.outcome, t.id, t.again, t.attempts = "done", reply.ReplyID, reply.AlreadySent, *r.Meta.Attempts
	return t
}
