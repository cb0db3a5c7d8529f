package simulation_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/kitebase/kitebase-mcp/server/resilience"
)

// agent is an MCP client: a host and the model behind it.
type agent struct {
	number  int
	session *session
	latest  *call
}

// call is one tool call and what became of it.
type call struct {
	number  int
	agent   int
	process *process
	id      int // of the request
	event   Event
	begun   time.Time
	limit   time.Duration // within which it must be answered
	done    chan struct{} // closed when it is answered, or never will be
	finale  bool          // made after the events

	// The rest is read after done.
	cancelled time.Time // zero: it was not
	lost      bool      // the connection ended before the answer
	answer    answer
	answered  time.Time // zero: it was not
}

// answer is the result of a call as it came over the wire.
type answer struct {
	IsError    bool
	Structured struct {
		TicketID    string `json:"ticket_id"`
		ReplyID     string `json:"reply_id"`
		AlreadySent bool   `json:"already_sent"`
		ServedBy    string `json:"served_by"`
		Note        string `json:"note"`
	} `json:"structuredContent"`
	Content []struct{ Text string }
	Meta    struct {
		Attempts *int                  `json:"io.kitebase/attempts"`
		Replayed bool                  `json:"io.kitebase/replayed"`
		Error    *resilience.ErrorInfo `json:"io.kitebase/error"`
	} `json:"_meta"`
	rpcError string
}

func (a answer) text() string {
	if len(a.Content) == 0 {
		return a.rpcError
	}
	return a.Content[0].Text
}

// outcome is what the caller was told of the effect: done, not_done or unknown.
func (a answer) outcome() string {
	switch {
	case a.IsError && a.Meta.Error != nil:
		return a.Meta.Error.Outcome
	case a.IsError:
		return "unknown"
	}
	return "done"
}

func (a answer) attempts() int {
	switch {
	case a.Meta.Error != nil:
		return a.Meta.Error.Attempts
	case a.Meta.Attempts != nil:
		return *a.Meta.Attempts
	}
	return -1
}

// ending tells how the call ended, for people.
func (c *call) ending() string {
	select {
	case <-c.done:
	default:
		if c.answered.IsZero() {
			return "no answer"
		}
	}
	switch {
	case c.answered.IsZero() && c.lost:
		return "the connection ended before the answer"
	case c.answer.IsError:
		return fmt.Sprintf("%s after %d attempt(s): %s", c.answer.outcome(), c.answer.attempts(), c.answer.text())
	case c.answer.Meta.Replayed:
		return "done before: " + c.answer.Structured.ReplyID
	}
	return fmt.Sprintf("done after %d attempt(s) %s %s", c.answer.attempts(), c.answer.Structured.ReplyID, c.answer.Structured.Note)
}

// query is what the call searches for, which no other does.
func (c *call) query() string { return fmt.Sprintf("sso %d", c.number) }

// isDelivered reports whether the answer tells that an earlier reply in other words was delivered.
func (a answer) isDelivered() bool {
	return a.Meta.Error != nil && a.Meta.Error.Kind == resilience.Held && strings.Contains(a.text(), "was delivered")
}

// isOpen reports whether the answer tells that it is not known yet what became of this reply or of an earlier one.
func (a answer) isOpen() bool {
	return a.Meta.Error != nil && a.Meta.Error.Kind == resilience.Held && strings.Contains(a.text(), "unconfirmed")
}
