package lab

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// What the page says of a moment, and how it is coloured.

// letter names an event in the picture.
func letter(i int) string {
	if i < 26 {
		return string(rune('A' + i))
	}
	return letter(i/26-1) + letter(i%26)
}

// class says how a call is coloured: by its answer, unless something is wrong with it.
func (c Call) class(r Result) string {
	if slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Call == c.Number }) {
		return "bad"
	}
	switch {
	case c.Excused != "" && c.Answer == AnswerNone:
		return "gone"
	case c.Claim == ClaimsUnknown:
		return "open"
	case c.Answer == AnswerResult:
		return "good"
	default:
		return "refused"
	}
}

// told says what a call asked and was told, for people.
func (c Call) told() string {
	said := map[Answer]string{AnswerResult: "a result", AnswerError: "an error", AnswerProtocol: "a protocol error", AnswerNone: "no answer"}[c.Answer]
	if c.Claim != "" {
		said = fmt.Sprintf("%s, which claims %q", said, c.Claim)
	}
	return fmt.Sprintf("call %d: %s; after %s %s", c.Number, c.Tool, span(c.TookMS), said)
}

func (r Request) class() string {
	switch {
	case r.Fault == "slow":
		return "slow"
	case r.Fault != "" || r.Status >= 500 || r.Status == 0:
		return "bad"
	default:
		return "good"
	}
}

func (r Request) label() string {
	return cmp.Or(strings.ReplaceAll(r.Fault, "_", " "), fmt.Sprint(r.Status))
}

func (r Request) told() string {
	text := r.Operation
	if r.Keyed {
		text += " with a key"
	}
	switch {
	case r.Status == 0:
		text += " was not answered"
	default:
		text += fmt.Sprintf(" was answered %d", r.Status)
	}
	if r.Fault != "" {
		text += " (fault: " + strings.ReplaceAll(r.Fault, "_", " ") + ")"
	}
	return text
}

func (e Email) told() string {
	text := "the customer of " + e.Ticket + " got an email"
	if e.TooMany {
		text += " too many"
	}
	return text
}
