package lab

// What a model cannot act on, or should never see, stands in this file and nowhere else.

import (
	"regexp"
	"strings"
	"sync"
)

// tooLong is the number of characters beyond which hosts cut the text of an error.
const tooLong = 10_000

// offence is one way not to be readable.
type offence struct {
	says    string
	pattern *regexp.Regexp
}

// page is a whole page of HTML, which a result never should be. A single tag may be what a customer wrote.
var page = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)<!doctype html|<html\b`) })

// trace is a stack trace that no customer writes by chance.
var trace = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\bgoroutine \d+ \[\w+|Traceback \(most recent call last\)|\n\s+at \S+.*:\d+`)
})

// offences are compiled when they are first needed: a server never needs them, and should not start later for them.
var offences = sync.OnceValue(func() []offence {
	return []offence{
		{"it contains HTML", regexp.MustCompile(`(?i)<(!doctype|html|head|body|title|h1|div|p|br)\b[^>]*>`)},
		{"it contains a URL", regexp.MustCompile(`(?i)\bhttps?://`)},
		{"it contains a stack trace", regexp.MustCompile(`goroutine \d+ \[|Traceback \(most recent call last\)|\n\s+at \S+.*:\d+|\bpanic: |` +
			`\bFile "[^"]+", line \d+|\b[\w/-]+\.(go|py|js|mjs|ts|java|rb|rs):\d+`)},
		{"it contains values as a program prints them", regexp.MustCompile(`&\{|map\[|%!\w?\(|\b0x[0-9a-fA-F]{6,}|<nil>|\[object Object\]|object at 0x`)},
		{"it contains an error as a program prints it", regexp.MustCompile(`invalid character '|cannot unmarshal|unexpected end of JSON|Unexpected token|` +
			`JSONDecodeError|dial tcp|read tcp|write tcp|context deadline exceeded|Client\.Timeout|\bErrno \d+`)},
		{"it contains an answer of Kitebase as it came", regexp.MustCompile(`urn:kitebase:problem:|"detail"\s*:`)},
	}
})

// unreadable returns what is wrong with an answer, "" for nothing.
func (s said) unreadable(token string) string {
	var says []string
	switch s.form {
	case AnswerNone:
		return ""
	case AnswerResult:
		says = s.succeeding()
	default:
		says = s.failing()
	}
	if token != "" && strings.Contains(s.text+s.wire, token) {
		says = append(says, "it contains the token")
	}
	return strings.Join(says, ", ")
}

// succeeding returns what is wrong with a result that is told as a success. It may hold whatever a customer wrote.
func (s said) succeeding() []string {
	var says []string
	if s.empty {
		says = append(says, "it has nothing in it")
	}
	if page().MatchString(s.text) {
		says = append(says, "it is a page of HTML, told as a success")
	}
	if trace().MatchString(s.text) {
		says = append(says, "it is a stack trace, told as a success")
	}
	return says
}

// failing returns what is wrong with an error.
func (s said) failing() []string {
	var says []string
	if s.form == AnswerProtocol {
		says = append(says, "it is a protocol error")
	}
	if strings.TrimSpace(s.text) == "" {
		says = append(says, "it has no text")
	}
	for _, each := range offences() {
		if each.pattern.MatchString(s.text) {
			says = append(says, each.says)
		}
	}
	if len([]rune(s.text)) > tooLong {
		says = append(says, "it is longer than hosts show")
	}
	return says
}
