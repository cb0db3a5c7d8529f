package fakeapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// maxMessage is the longest message in bytes.
const maxMessage = 64 << 10

// Email is what a customer really got. There is one for every reply that was sent, and none for a replay.
type Email struct {
	ReplyID  string `json:"reply_id"`
	TicketID string `json:"ticket_id"`
	// To is the customer's address.
	To   string `json:"to"`
	Body string `json:"body"`
	// IdempotencyKey is the one of the request, also when the fake ignores keys.
	IdempotencyKey string    `json:"idempotency_key"`
	SentAt         time.Time `json:"sent_at"`
	// RequestID is that of the request that sent it, which is in Requests under the same id.
	RequestID string `json:"request_id"`
}

// Outbox returns every email that was sent, in order. The slice is the caller's.
func (f *Fake) Outbox() []Email {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]Email{}, f.outbox...)
}

func (f *Fake) replyToCustomer(c *call) answer {
	t, refusal := f.findTicket(c.ticketID)
	if t == nil {
		return refusal
	}
	text, refusal := textField(c.body, "message")
	if refusal.status != 0 {
		return refusal
	}
	if len(text) > maxMessage {
		return problem(http.StatusUnprocessableEntity, "invalid-message", fmt.Sprintf("The message has %d bytes; the limit is %d.", len(text), maxMessage))
	}
	if a, settled := f.answerKnownKey(c, text); settled {
		return a
	}
	return f.sendReply(c, t, text)
}

// answerKnownKey answers for a key that was used before: with the reply it stands for, or with why it cannot be used.
// Fake.mu is held.
func (f *Fake) answerKnownKey(c *call, text string) (answer, bool) {
	if !f.keyed(c) {
		return answer{}, false
	}
	if len(c.key()) > 255 {
		return problem(http.StatusBadRequest, "invalid-idempotency-key", "An Idempotency-Key has at most 255 bytes."), true
	}
	if i, used := f.sent[c.key()]; used {
		email := f.outbox[i]
		if email.TicketID != c.ticketID || email.Body != text {
			return problem(http.StatusUnprocessableEntity, "idempotency-key-reused", "This Idempotency-Key was used for another reply."), true
		}
		a := f.replyAnswer(email)
		a.header = http.Header{"Idempotent-Replayed": {"true"}}
		return a, true
	}
	if owner := f.running[c.key()]; owner != nil && owner != c {
		a := problem(http.StatusConflict, "idempotency-in-progress", "The first request with this Idempotency-Key is still running.")
		a.header = http.Header{"Retry-After": {"1"}}
		return a, true
	}
	return answer{}, false
}

// sendReply sends the email and adds the reply to the ticket. Fake.mu is held.
func (f *Fake) sendReply(c *call, t *ticket, text string) answer {
	now := time.Now().UTC()
	email := Email{
		ReplyID:        fmt.Sprintf("rpl_%03d", len(f.outbox)+1),
		TicketID:       t.ID,
		To:             t.Customer.Email,
		Body:           text,
		IdempotencyKey: c.key(),
		SentAt:         now,
		RequestID:      c.record.RequestID,
	}
	m := message{ID: email.ReplyID, Author: "agent", Body: text, CreatedAt: now}
	if f.keyed(c) {
		m.IdempotencyKey = c.key()
	}
	err := f.change(t, func() {
		t.Messages = append(t.Messages, m)
		t.touch(now)
		f.outbox = append(slices.Clip(f.outbox), email)
	})
	if err != nil {
		return notKept(err)
	}
	if f.keyed(c) {
		f.sent[c.key()] = len(f.outbox) - 1
	}
	a := f.replyAnswer(email)
	a.status = http.StatusCreated
	return a
}

func (f *Fake) replyAnswer(email Email) answer {
	return ok(encode(struct {
		ReplyID   string    `json:"reply_id"`
		SentTo    string    `json:"sent_to"`
		CreatedAt time.Time `json:"created_at"`
	}{email.ReplyID, f.tickets[email.TicketID].Customer.Name, email.SentAt}))
}

func (f *Fake) keyed(c *call) bool { return c.key() != "" && !f.cfg.IgnoreKeys }

// claimKey marks the key of a reply as running; releaseKey ends that. Work itself is one step and needs no claim, so
// only slow calls have one. Fake.mu is held.
func (f *Fake) claimKey(c *call) {
	if c.operation.name == "reply_to_customer" && f.keyed(c) && f.running[c.key()] == nil {
		f.running[c.key()] = c
	}
}

func (f *Fake) releaseKey(c *call) {
	if f.running[c.key()] == c {
		delete(f.running, c.key())
	}
}

// textField reads one text that must not be blank from a JSON object. Other fields are ignored, as most APIs do.
func textField(body []byte, name string) (string, answer) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(body, &object); err != nil {
		return "", problem(http.StatusBadRequest, "invalid-body", "The body must be a JSON object.")
	}
	refuse := func(detail string) (string, answer) {
		return "", problem(http.StatusUnprocessableEntity, "invalid-"+name, detail)
	}
	var text *string
	if raw, present := object[name]; present && json.Unmarshal(raw, &text) != nil {
		return refuse("The " + name + " must be a text.")
	}
	switch {
	case text == nil:
		return refuse("The " + name + " is missing.")
	case strings.TrimSpace(*text) == "":
		return refuse("The " + name + " is blank.")
	}
	return *text, answer{}
}
