package lab

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/kitebase/kitebase-mcp/fakeapi"
)

// truth is what became of a case at Kitebase.
type truth struct {
	began     time.Time // what the times of the calls count from
	emails    []fakeapi.Email
	assignees map[string]string // by ticket
	token     string
	stray     string // what came on stdout beside messages; "" for nothing
}

// times returns how often a change was made: the emails with its text, or 1 for the assignee that the ticket has.
func (t truth) times(c change) int {
	if c.assignee != "" && t.assignees[c.ticket] == c.assignee {
		return 1
	}
	n := 0
	for _, email := range t.emails {
		if c.isIn(email) {
			n++
		}
	}
	return n
}

// timesBefore is times, without the emails that went out from a moment on, in milliseconds since the case began.
func (t truth) timesBefore(c change, moment float64) int {
	early := t
	early.emails = nil
	for _, email := range t.emails {
		if float64(email.SentAt.Sub(t.began).Microseconds())/1000 < moment {
			early.emails = append(early.emails, email)
		}
	}
	return early.times(c)
}

// isIn reports whether the email is one of that reply. Servers may add a greeting or a signature, break lines, or write all in
// capitals: a customer reads the same reply.
func (c change) isIn(email fakeapi.Email) bool {
	return c.isReply() && email.TicketID == c.ticket && strings.Contains(folded(email.Body), folded(c.text))
}

// folded is a text in lower case, without what only lays it out.
func folded(text string) string { return strings.ToLower(strings.Join(strings.Fields(text), " ")) }

// judge compares what the calls were told with what is true. It is a pure function of the two.
func judge(calls []Call, is truth, limit time.Duration) []Finding {
	findings := []Finding{}
	for _, call := range calls {
		if call.Excused == "" {
			findings = append(findings, call.judge(is, limit, repeatedAt(call, calls))...)
		}
	}
	asked := replies(calls)
	for _, r := range asked {
		if surplus := len(r.emails(is)) - r.wanted; surplus > 0 {
			findings = append(findings, Finding{Kind: Duplicate, Count: surplus, Says: fmt.Sprintf("%s got %s instead of %d.",
				"the customer of "+r.texts[0].ticket, count(len(r.emails(is)), "email"), r.wanted)})
		}
	}
	findings = append(findings, unasked(asked, is)...)
	return append(findings, strayFindings(is.stray)...)
}

// strayFindings returns at most one: a banner and a whole log are the same mistake.
func strayFindings(stray string) []Finding {
	if stray == "" {
		return nil
	}
	return []Finding{{Kind: StrayOutput, Count: 1, Says: stray}}
}

// unasked returns what is wrong with the emails that no reply asked for, ticket by ticket.
func unasked(asked []*wantedReply, is truth) []Finding {
	byTicket := make(map[string][]fakeapi.Email)
	for _, i := range strays(asked, is) {
		email := is.emails[i]
		byTicket[email.TicketID] = append(byTicket[email.TicketID], email)
	}
	var findings []Finding
	for _, ticket := range slices.Sorted(maps.Keys(byTicket)) {
		emails := byTicket[ticket]
		findings = append(findings, Finding{Kind: Duplicate, Count: len(emails), Says: fmt.Sprintf("the customer of %s got %s that no reply asked for: %q.",
			ticket, count(len(emails), "email"), shortened(emails[0].Body, 60))})
	}
	return findings
}

// strays returns the indexes of the emails that are none of the replies.
func strays(asked []*wantedReply, is truth) []int {
	wanted := make(map[int]bool)
	for _, r := range asked {
		for _, i := range r.emails(is) {
			wanted[i] = true
		}
	}
	var found []int
	for i := range is.emails {
		if !wanted[i] {
			found = append(found, i)
		}
	}
	return found
}

// repeatedAt returns when the same change was asked for again after the call was answered: what is done from then on may be due
// to that.
func repeatedAt(c Call, calls []Call) float64 {
	at := math.Inf(1)
	for _, other := range calls {
		if other.change.ticket == c.change.ticket && other.change.text == c.change.text && other.AtMS >= c.AtMS+c.TookMS && other.Number != c.Number {
			at = min(at, other.AtMS)
		}
	}
	return at
}

// judge returns what is wrong with the answer to one call.
func (c Call) judge(is truth, limit time.Duration, repeated float64) []Finding {
	var findings []Finding
	found := func(kind Kind, format string, values ...any) {
		findings = append(findings, Finding{Kind: kind, Call: c.Number, Count: 1, Says: fmt.Sprintf("%s: ", c.Tool) + fmt.Sprintf(format, values...)})
	}
	if c.Answer == AnswerNone {
		if c.TookMS < float64(limit.Milliseconds()) {
			found(Unanswered, "the server ended without an answer%s.", aside(is.stray))
		} else {
			found(Unanswered, "no answer within %s%s.", limit, aside(is.stray))
		}
		return findings
	}
	if why := c.whole.unreadable(is.token); why != "" {
		found(Unreadable, "%s.", why)
	}
	if c.change.isNone() {
		return findings
	}
	made := is.times(c.change) > c.change.nth
	switch {
	case c.Claim == ClaimsSent && !made && is.times(c.change) > 0:
		found(FalseSent, "told as sent once more, but it was not.")
	case c.Claim == ClaimsSent && !made:
		found(FalseSent, "told as done, but it was not.")
	case c.Claim == ClaimsAlready && is.times(c.change) == 0:
		found(FalseSent, "told as done before, but it was not.")
	case c.Claim == ClaimsFailed && is.timesBefore(c.change, repeated) > c.change.nth:
		found(FalseFailed, "told as failed, but it was done.")
	}
	return findings
}

// wantedReply is one reply that the model wants to be sent, in one or several wordings.
type wantedReply struct {
	texts  []change
	wanted int
}

// replies returns the replies that the calls are about, in the order of their first call.
func replies(calls []Call) []*wantedReply {
	var all []*wantedReply
	known := make(map[string]*wantedReply)
	for _, call := range calls {
		if !call.change.isReply() {
			continue
		}
		id := call.change.identity()
		if known[id] == nil {
			known[id] = &wantedReply{wanted: 1}
			all = append(all, known[id])
		}
		known[id].wanted = max(known[id].wanted, call.change.nth+1)
		known[id].texts = append(known[id].texts, call.change)
	}
	return all
}

// emails returns the indexes of the emails with one of its wordings.
func (r *wantedReply) emails(is truth) []int {
	var found []int
	for i, email := range is.emails {
		for _, text := range r.texts {
			if text.isIn(email) {
				found = append(found, i)
				break
			}
		}
	}
	return found
}

// aside adds to a sentence what may explain it.
func aside(text string) string {
	if text == "" {
		return ""
	}
	return " (" + text + ")"
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
