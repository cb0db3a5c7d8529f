package lab

import (
	"encoding/json"
)

// Result is what one case showed. Times are milliseconds since the first call of the case.
type Result struct {
	Name string `json:"name"`
	// Breaks, Does and Judged describe the case, as [Case] has it.
	Breaks string `json:"breaks"`
	Does   string `json:"does"`
	Judged string `json:"judged"`
	// Counted is false for what no server can know beforehand.
	Counted bool `json:"counted"`
	// Skipped says why the case was not run; "" for one that was.
	Skipped string `json:"skipped,omitempty"`

	// Wanted are the emails that the model wanted and that could be sent, Delivered those of them that the customer got.
	Wanted    int `json:"wanted"`
	Delivered int `json:"delivered"`

	Findings []Finding `json:"findings"`
	Calls    []Call    `json:"calls"`
	Requests []Request `json:"requests"`
	Emails   []Email   `json:"emails"`
	Events   []Event   `json:"events"`
	// LastWords are the last lines of the server's log, if it died outside of what the case did to it.
	LastWords []string `json:"last_words,omitempty"`
}

// Finding is one thing that was wrong.
type Finding struct {
	Kind Kind `json:"kind"`
	// Call is the number of the call, 0 if it is about the whole case.
	Call int `json:"call,omitempty"`
	// Count is how many emails were too many; 1 for everything else.
	Count int    `json:"count"`
	Says  string `json:"says"`
}

// Kind sorts findings.
type Kind string

// The kinds of findings, see [Rules].
const (
	Duplicate   Kind = "duplicate"
	FalseSent   Kind = "false_sent"
	FalseFailed Kind = "false_failed"
	Unreadable  Kind = "unreadable"
	Unanswered  Kind = "unanswered"
	StrayOutput Kind = "stray_output"
)

// Claim is what an answer says of a change.
type Claim string

// The claims. Already is that an earlier call made the change and this one did nothing.
const (
	ClaimsSent    Claim = "sent"
	ClaimsFailed  Claim = "failed"
	ClaimsUnknown Claim = "unknown"
	ClaimsAlready Claim = "already"
)

// Call is one call of a tool.
type Call struct {
	Number    int             `json:"number"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	AtMS      float64         `json:"at_ms"`
	TookMS    float64         `json:"took_ms"`
	// Answer is result, error (isError), protocol_error or none.
	Answer Answer `json:"answer"`
	// Claim is what the answer to a change says; "" for reads and for no answer.
	Claim Claim `json:"claim,omitempty"`
	// Text is what the model read, cut at 600 bytes.
	Text string `json:"text,omitempty"`
	// Excused says why no answer is needed; "" if one is.
	Excused string `json:"excused,omitempty"`

	whole  said
	change change
}

// Answer is the form of an answer.
type Answer string

// The forms of an answer.
const (
	AnswerResult   Answer = "result"
	AnswerError    Answer = "error"
	AnswerProtocol Answer = "protocol_error"
	AnswerNone     Answer = "none"
)

// Request is one request that reached Kitebase.
type Request struct {
	AtMS      float64 `json:"at_ms"`
	Operation string  `json:"operation"`
	// Status is what was answered, 0 for nothing.
	Status int    `json:"status"`
	Fault  string `json:"fault,omitempty"`
	Keyed  bool   `json:"keyed"`
}

// Email is what a customer got.
type Email struct {
	AtMS   float64 `json:"at_ms"`
	Ticket string  `json:"ticket"`
	Body   string  `json:"body"`
	// TooMany is true for an email above the number that was wanted, and for one that no reply asked for.
	TooMany bool `json:"too_many"`
}

// Event is something else that happened: a fault switched on, a process killed, a customer who wrote.
type Event struct {
	AtMS float64 `json:"at_ms"`
	Says string  `json:"says"`
}

// change is what a call is meant to do. The zero value is a read.
type change struct {
	ticket   string
	text     string // of a reply
	assignee string // of an assignment
	reply    string // what reply it is, if not one of its own: texts that say the same
	hopeless bool   // it cannot be made
	nth      int    // which of the wanted emails with this text it is; 0 is the first
}

func (c change) isReply() bool { return c.text != "" }

func (c change) isNone() bool { return c == change{} }

// identity is what makes two replies the same one.
func (c change) identity() string {
	if c.reply != "" {
		return c.reply
	}
	return c.ticket + "\n" + c.text
}
