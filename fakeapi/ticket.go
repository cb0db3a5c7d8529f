package fakeapi

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

type customer struct {
	Name  string `json:"name"`
	Email string `json:"email"`
}

type message struct {
	ID             string    `json:"id"`
	Author         string    `json:"author"`
	Body           string    `json:"body"`
	CreatedAt      time.Time `json:"created_at"`
	IdempotencyKey string    `json:"idempotency_key,omitempty"`
}

// summary is a ticket without its conversation.
type summary struct {
	ID        string    `json:"id"`
	Title     string    `json:"title"`
	Status    string    `json:"status"`
	Priority  string    `json:"priority"`
	Customer  customer  `json:"customer"`
	Assignee  *string   `json:"assignee"`
	Version   int       `json:"version"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

type ticket struct {
	summary
	Messages []message `json:"messages"`

	seeded  int    // messages that came with the seed data; those after it are kept in DataFile
	changed bool   // differs from the seed data
	encoded []byte // the answer to get_ticket; nil after a change
}

// touch notes a change made now. updated_at rises even when the clock does not.
func (t *ticket) touch(now time.Time) {
	if !now.After(t.UpdatedAt) {
		now = t.UpdatedAt.Add(time.Millisecond)
	}
	t.Version++
	t.UpdatedAt = now
	t.changed = true
	t.encoded = nil
}

func statuses() []string {
	return []string{"open", "in_progress", "waiting", "resolved", "closed"}
}

var ticketID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^KITE-[0-9]{1,9}$`) })

// findTicket returns the ticket of the call, or the answer that says why there is none. Fake.mu is held.
func (f *Fake) findTicket(id string) (*ticket, answer) {
	if !ticketID().MatchString(id) {
		return nil, problem(http.StatusBadRequest, "invalid-ticket-id", "A ticket id is KITE- and one to nine digits.")
	}
	t := f.tickets[id]
	if t == nil {
		return nil, problem(http.StatusNotFound, "ticket-not-found", "There is no ticket "+id+".")
	}
	return t, answer{}
}

func (f *Fake) getTicket(c *call) answer {
	t, refusal := f.findTicket(c.ticketID)
	if t == nil {
		return refusal
	}
	if t.encoded == nil {
		t.encoded = encode(t)
	}
	return ok(t.encoded)
}

func (f *Fake) assignTicket(c *call) answer {
	t, refusal := f.findTicket(c.ticketID)
	if t == nil {
		return refusal
	}
	name, refusal := textField(c.body, "assignee")
	if refusal.status != 0 {
		return refusal
	}
	if !f.agents[name] {
		return problem(http.StatusUnprocessableEntity, "unknown-assignee", "There is no agent of this name.")
	}
	// Setting what is set already is no change.
	if t.Assignee == nil || *t.Assignee != name {
		err := f.change(t, func() {
			t.Assignee = &name
			t.touch(time.Now().UTC())
		})
		if err != nil {
			return notKept(err)
		}
	}
	return ok(encode(t.summary))
}

// CustomerWrites adds a message of the customer to a ticket. It fails for an unknown ticket, a blank body, or when the
// data file cannot be written.
func (f *Fake) CustomerWrites(ticketID, body string) error {
	_, err := f.customerWrites(ticketID, body)
	return err
}

func (f *Fake) customerWrites(ticketID, body string) (message, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	t := f.tickets[ticketID]
	if t == nil {
		return message{}, fmt.Errorf("there is no ticket %q", ticketID)
	}
	if strings.TrimSpace(body) == "" {
		return message{}, errors.New("the body is blank; it takes what the customer writes")
	}
	now := time.Now().UTC()
	m := message{ID: messageID("msg", t.ID, len(t.Messages)+1), Author: "customer", Body: body, CreatedAt: now}
	err := f.change(t, func() {
		t.Messages = append(t.Messages, m)
		t.touch(now)
	})
	return m, err
}

// messageID numbers what is not a reply of this fake, such as msg_142_3. Its own replies are numbered through: rpl_001.
func messageID(prefix, ticketID string, n int) string {
	return fmt.Sprintf("%s_%s_%d", prefix, strings.TrimPrefix(ticketID, "KITE-"), n)
}

// change runs apply and keeps its result; when it cannot be kept, nothing has changed. Fake.mu is held.
func (f *Fake) change(t *ticket, apply func()) error {
	before, outbox := *t, f.outbox
	// A copy without room to grow: appends must not write into what before still points at.
	t.Messages = slices.Clip(t.Messages)
	apply()
	if err := f.save(); err != nil {
		*t, f.outbox = before, outbox
		return err
	}
	return nil
}

func notKept(err error) answer {
	return problem(http.StatusInternalServerError, "not-kept", "Nothing was changed: "+err.Error()+".")
}
