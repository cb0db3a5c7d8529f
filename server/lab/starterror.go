package lab

import (
	"fmt"
	"strings"
)

// startError is a server that could not be started or did not become ready.
type startError struct {
	err       error
	status    string // of its process; "" if there was none
	lastWords []string
	stray     string // what came on stdout beside messages; "" for nothing
}

func (e *startError) Unwrap() error { return e.err }

// why says it in one line.
func (e *startError) why() string {
	text := e.err.Error()
	if e.status != "" {
		text += " (" + e.status + ")"
	}
	return strings.Join(strings.Fields(text), " ")
}

// Error has several lines if the server said something.
func (e *startError) Error() string { return visible(e.text()) }

func (e *startError) text() string {
	if e.status == "" {
		return "the server does not start: " + e.why() + "; check the command behind --"
	}
	text := fmt.Sprintf("the server is not ready for calls: %s; it must speak MCP on stdin and stdout, and take Kitebase's "+
		"address from KITEBASE_URL or {url}", e.why())
	if e.stray != "" {
		text += "; " + e.stray
	}
	if len(e.lastWords) == 0 {
		return text + "; it said nothing on stderr"
	}
	return text + "; its last words on stderr:\n  " + strings.Join(e.lastWords, "\n  ")
}
