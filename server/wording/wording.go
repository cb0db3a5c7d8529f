// Package wording keeps Go out of the protocol errors that clients, and with them models, may read. mcp-go quotes
// encoding/json and its own errors in them; both transports pass their answers through here.
//
//	unparsable tools/call request: json: cannot unmarshal …   →   Not run: the parameters of the request do not fit its method.
package wording

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"sync"
)

// Unfit is what a client is told whose request cannot be read.
const Unfit = "Not run: the parameters of the request do not fit its method."

// Public returns the message of a protocol error as a client may read it. It is safe for concurrent use.
func Public(message string) string {
	for _, inside := range []string{"json: ", "unparsable ", "illegal base64", "unexpected end of JSON", "invalid character '"} {
		if strings.Contains(message, inside) {
			return Unfit
		}
	}
	for _, form := range []*regexp.Regexp{missingThing(), missingMethod()} {
		if at := form.FindStringSubmatchIndex(message); at != nil && !plainName().MatchString(message[at[2]:at[3]]) {
			message = message[:at[2]] + "of that name" + message[at[3]:]
		}
	}
	if at := mismatch().FindStringSubmatch(message); at != nil {
		return "Not run: the header " + at[1] + " does not fit the message."
	}
	if strings.HasPrefix(message, "header mismatch: ") {
		return "Not run: a header does not fit the message."
	}
	return strings.TrimSuffix(message, ": tool not found")
}

// pattern returns an expression that is compiled when it is first needed, which in most processes is never: all of them
// together would be a fiftieth of the time from the start to the first answer.
func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// What a client asked for and there is not, mcp-go repeats as it came. A name is told to the client that gave it; anything
// else might be taken for words of this server.
var (
	missingThing  = pattern(`(?s)^(?:tool|prompt|handler not found for resource URI|invalid logging level) ('.*')`)
	mismatch      = pattern(`^header mismatch: ([A-Za-z-]{1,40}): `)
	missingMethod = pattern(`(?s)^Method (.*) not found$`)
	plainName     = pattern(`^'?[A-Za-z0-9_./:-]{1,64}'?$`)
)

var protocolError = pattern(`("error":\{"code":-?\d+,"message":)("(?:[^"\\]|\\.)*")`)

// Failed reports whether an answer, plain or as an event, is a protocol error. What a result quotes is escaped, and is none.
func Failed(answer []byte) bool { return bytes.Contains(answer, []byte(`"error":{"code":`)) }

// Answer returns an answer, plain or as an event, with its protocol errors in public words. Whatever a result quotes is
// escaped within a string and is left alone.
func Answer(answer []byte) []byte {
	if !Failed(answer) {
		return answer
	}
	return protocolError().ReplaceAllFunc(answer, func(found []byte) []byte {
		parts := protocolError().FindSubmatch(found)
		var message string
		if json.Unmarshal(parts[2], &message) != nil {
			return found
		}
		public, err := json.Marshal(Public(message))
		if err != nil { // a string always encodes
			return found
		}
		return append(bytes.Clone(parts[1]), public...)
	})
}
