package tools

import (
	"errors"
	"fmt"
	"time"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/tools/kitebase"
)

const (
	ticketIDForm         = "Ticket ids look like KITE-142."
	unknownAssigneeType  = "urn:kitebase:problem:unknown-assignee"
	unknownAssigneeWords = "Kitebase knows no agent of that name, so the ticket was not reassigned. " +
		"Give the name of an agent as get_ticket and search_tickets show it under assignee."
)

// refusal is the error of a call that was refused before anything went out, because of its arguments. Its text is made
// for the model and never holds what the caller gave, except for plain words, which are not for logs.
type refusal struct{ reason, log string }

func refuse(format string, args ...any) error {
	reason := fmt.Sprintf(format, args...)
	return refusal{reason, reason}
}

func (r refusal) Error() string              { return "bad arguments: " + r.log }
func (refusal) Kind() string                 { return "invalid" }
func (r refusal) Reason() string             { return r.reason }
func (refusal) Refused() bool                { return true }
func (refusal) Retryable() bool              { return false }
func (refusal) RetryAfter() time.Duration    { return 0 }
func (refusal) Outcome() idempotency.Outcome { return idempotency.NotDone }

type clientError = kitebase.Error // an embedded field named Error would hide the method

// worded is an error of the client with a better sentence for the model. Kind, outcome and the rest are the client's.
type worded struct {
	*clientError
	reason string
}

func (w worded) Reason() string { return w.reason }
func (w worded) Unwrap() error  { return w.clientError }

// wordTicketError says which ticket there is none of.
func wordTicketError(err error, ticketID string) error {
	if failure, ok := errors.AsType[*kitebase.Error](err); ok && failure.Kind() == kitebase.KindNotFound {
		return worded{failure, "No ticket " + ticketID + ". " + ticketIDForm}
	}
	return err
}

// wordAssignError also says that it was the assignee that Kitebase did not know.
func wordAssignError(err error, ticketID string) error {
	if failure, ok := errors.AsType[*kitebase.Error](err); ok && failure.ProblemType == unknownAssigneeType {
		return worded{failure, unknownAssigneeWords}
	}
	return wordTicketError(err, ticketID)
}
