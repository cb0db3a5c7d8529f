package lab

import (
	"fmt"
	"strings"
)

// startError is a server that started but did not become ready.
type startError struct {
	err       error
	lastWords []string
	status    string
}

func (e *startError) Unwrap() error { return e.err }

// Error has several lines if the server said something.
func (e *startError) Error() string {
	text := fmt.Sprintf("the server is not ready for calls: %v (%s); it must speak MCP on stdin and stdout, and take Kitebase's "+
		"address from KITEBASE_URL or {url}", e.err, e.status)
	if len(e.lastWords) == 0 {
		return text + "; it said nothing on stderr"
	}
	return text + "; its last words on stderr:\n  " + strings.Join(e.lastWords, "\n  ")
}
