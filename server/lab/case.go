package lab

import (
	"fmt"
	"slices"
	"time"

	"github.com/kitebase/kitebase-mcp/fakeapi"
)

// Case is one story: what breaks, which calls are made, and what is looked at.
type Case struct {
	// Name is unique and has two parts, such as repeat/lose.
	Name string
	// Breaks says what goes wrong.
	Breaks string
	// Does says which calls are made.
	Does string
	// Judged says what is looked at beside what always is: that each call is answered, and readably.
	Judged string
	// Tools are the tools that it calls.
	Tools []string
	// Keyless is for a Kitebase that ignores Idempotency-Key, which the server is not told. Its findings are not counted.
	Keyless bool

	play func(*scene)
}

// lacks returns the first of its tools that is not among them, "" if all are.
func (c Case) lacks(tools []string) string {
	for _, tool := range c.Tools {
		if !slices.Contains(tools, tool) {
			return tool
		}
	}
	return ""
}

// Catalogue returns all cases, the ones that take long first. The slice is the caller's.
func Catalogue() []Case {
	var all []Case
	for _, some := range [][]Case{slowCases(), readCases(), onceCases(), repeatCases(), hostCases(), endCases(), keylessCases(), assignCases(), otherCases()} {
		all = append(all, some...)
	}
	return all
}

const (
	oneEmail = "The customer gets at most one email, and each answer about it is true."
	truly    = "The answer about the change is true."
	sender   = "reply_to_customer"
)

func senders() []string { return []string{sender} }

// theReply is what most cases send.
func theReply() change {
	return change{ticket: "KITE-142", text: "Sorry that you are locked out. The article on account recovery shows how to get back in; write again if it does not help."}
}

// breakage is a fault with its words.
type breakage struct {
	name  string
	says  string
	fault fakeapi.Fault
}

// beforeWork are the faults in which nothing is done, afterWork those in which everything is.
func beforeWork() []breakage {
	return []breakage{
		{"drop", "Kitebase cuts the connection and does nothing", fakeapi.Fault{Kind: fakeapi.FaultDrop}},
		{"500", "Kitebase answers 500 and does nothing", fakeapi.Fault{Kind: fakeapi.FaultStatus, Status: 500}},
		{"503", "Kitebase answers 503 and does nothing", fakeapi.Fault{Kind: fakeapi.FaultStatus, Status: 503}},
		{"429", "Kitebase answers 429 with Retry-After: 1 and does nothing", fakeapi.Fault{Kind: fakeapi.FaultStatus, Status: 429, RetryAfter: "1"}},
		{"redirect", "Kitebase sends the caller to a sign-in page and does nothing", fakeapi.Fault{Kind: fakeapi.FaultRedirect}},
	}
}

func afterWork() []breakage {
	return []breakage{
		{"hang", "Kitebase does the work and never answers", fakeapi.Fault{Kind: fakeapi.FaultHang}},
		{"lose", "Kitebase does the work and cuts the connection", fakeapi.Fault{Kind: fakeapi.FaultLose}},
		{"garble", "Kitebase does the work and answers 200 with a page of HTML", fakeapi.Fault{Kind: fakeapi.FaultGarble}},
		{"truncate", "Kitebase does the work and sends half of the answer", fakeapi.Fault{Kind: fakeapi.FaultTruncate}},
		{"stall", "Kitebase does the work, sends the headers and then nothing", fakeapi.Fault{Kind: fakeapi.FaultStall}},
		{"fail-after", "Kitebase does the work and answers 500", fakeapi.Fault{Kind: fakeapi.FaultFailAfterCommit}},
	}
}

func slowly(delay time.Duration) breakage {
	return breakage{"slow", fmt.Sprintf("Kitebase takes %s for it, and works on even if nobody waits", delay), fakeapi.Fault{Kind: fakeapi.FaultSlow, Delay: delay}}
}

// times returns the breakage for the next n requests only.
func (b breakage) times(n int) fakeapi.Fault {
	b.fault.Times = n
	return b.fault
}
