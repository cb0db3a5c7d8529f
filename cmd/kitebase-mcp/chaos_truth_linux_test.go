package main_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/fakeapi"
	"github.com/kitebase/kitebase-mcp/idempotency"
)

// requireTruth holds what the agents were told, and what the ledger says, against what the customers got.
func (c *chaos) requireTruth(t *testing.T) {
	t.Helper()
	c.desk.clear()
	recorded := c.settled(t)
	c.desk.read()
	emails := map[string][]fakeapi.Email{} // by text
	for _, email := range c.desk.seen.emails {
		emails[email.Body] = append(emails[email.Body], email)
	}
	known, wanted := map[string]*want{}, map[string]bool{} // by key, by text
	for _, w := range c.wants {
		known[idempotency.Key(w.ticket, w.text)] = w
	}
	require.Len(t, known, c.replies)
	for _, w := range c.wants {
		got := emails[w.text]
		wanted[w.text] = true
		one := len(got) == 1 || w.gaveUp && len(got) == 0
		if !assert.True(t, one, "emails of %q: %+v", w.text, got) || !c.toldTrue(t, w, got) {
			c.logTimeline(t, w, got)
		}
		w.sent = len(got) > 0
	}
	for text := range emails {
		assert.True(t, wanted[text], "nobody wanted %q", text)
	}
	c.requireAttempts(t, known)
	for _, record := range recorded {
		if w := known[record.Key]; assert.NotNil(t, w, "a record of nothing: %+v", record) {
			done := record.State == "done" || record.State == "settled"
			if w.sent && c.offTheRecord(w, emails[w.text][0].SentAt) {
				continue
			}
			if !assert.Equal(t, w.sent, done, "the ledger has %q as %s", w.text, record.State) {
				c.logTimeline(t, w, emails[w.text])
			}
		}
	}
}

// toldTrue holds the answers about a reply against its emails.
func (c *chaos) toldTrue(t *testing.T, w *want, emails []fakeapi.Email) bool {
	t.Helper()
	good := true
	for _, call := range c.told {
		if call.want == w {
			good = c.callTrue(t, call, emails) && good
		}
	}
	return good
}

func (c *chaos) callTrue(t *testing.T, call told, emails []fakeapi.Email) bool {
	t.Helper()
	switch call.outcome {
	case "done":
		return assert.NotEmpty(t, emails, call) && assert.Equal(t, emails[0].ReplyID, call.id, call) &&
			assert.False(t, emails[0].SentAt.After(call.at), "told before it was sent: %s", call)
	case "not_done":
		// With keys as well, when the fence of an attempt cannot ask the ledger.
		if strings.Contains(call.words, "so whether the same was done before is not known") {
			return true
		}
		return assert.False(t, slices.ContainsFunc(emails, func(email fakeapi.Email) bool {
			return !email.SentAt.After(call.at) && !c.offTheRecord(call.want, email.SentAt)
		}), "told as not done after it was sent: %s", call)
	case "unknown":
		return assert.Regexp(t, `may have gone through|unconfirmed`, call.words)
	default:
		return assert.False(t, call.answered, call)
	}
}

// offTheRecord reports whether a reply was sent when a server may have kept the record to itself, see docs/dedupe.md: since the
// disk was full for the first time, or because, as it said, the ledger could not be written, such as while another server was stopped
// that held its lock.
func (c *chaos) offTheRecord(w *want, sent time.Time) bool {
	return c.keys && (!c.full.IsZero() && sent.After(c.full) || slices.ContainsFunc(c.told, func(call told) bool {
		return call.want == w && call.outcome == "done" && strings.Contains(call.words, "cannot be written now")
	}))
}

// requireAttempts shows that no request reached Kitebase that nobody told of. Of a server that died nothing can be asked, and
// Kitebase itself forgets some requests when it dies.
func (c *chaos) requireAttempts(t *testing.T, known map[string]*want) {
	t.Helper()
	most, open := map[*want]int{}, map[*want]bool{}
	for _, call := range c.told {
		most[call.want] += call.attempts
		open[call.want] = open[call.want] || !call.answered
	}
	came := map[*want]int{}
	for _, request := range c.desk.seen.requests {
		if request.Operation != "reply_to_customer" {
			continue
		}
		w := known[request.IdempotencyKey]
		if assert.NotNil(t, w, "a reply under a key that is not the fixed one: %+v", request) {
			assert.Equal(t, "/v1/tickets/"+w.ticket+"/replies", request.Path)
			came[w]++
		}
	}
	for w, n := range came {
		assert.True(t, open[w] || n <= most[w], "%d requests for %q, of which %d are told", n, w.text, most[w])
	}
}

// logTimeline prints what happened while a reply was to be sent that is not as it should be.
func (c *chaos) logTimeline(t *testing.T, w *want, emails []fakeapi.Email) {
	t.Helper()
	var line []event
	for _, call := range c.told {
		if call.want == w {
			line = append(line, event{call.asked, fmt.Sprintf("server %d is asked", call.server)}, event{call.at, call.String()})
		}
	}
	for _, email := range emails {
		line = append(line, event{email.SentAt, "sent as " + email.ReplyID})
	}
	byTime := func(a, b event) int { return a.at.Compare(b.at) }
	slices.SortStableFunc(line, byTime)
	for _, e := range c.history {
		if e.at.After(line[0].at.Add(-time.Second)) && e.at.Before(line[len(line)-1].at) {
			line = append(line, e)
		}
	}
	slices.SortStableFunc(line, byTime)
	t.Logf("%s %q, given up: %t", w.ticket, w.text, w.gaveUp)
	for _, e := range line {
		t.Log(e.at.UTC().Format("04:05.000000 "), e.text)
	}
}

// String tells a call in one line.
func (c told) String() string {
	if !c.answered {
		return fmt.Sprintf("server %d died without an answer", c.server)
	}
	return fmt.Sprintf("server %d told %q, %s after %d attempts: %s", c.server, c.outcome, c.id, c.attempts, c.words)
}
