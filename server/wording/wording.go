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
	return strings.TrimSuffix(message, ": tool not found")
}

var protocolError = regexp.MustCompile(`("error":\{"code":-?\d+,"message":)("(?:[^"\\]|\\.)*")`)

// Answer returns an answer, plain or as an event, with its protocol errors in public words. Whatever a result quotes is
// escaped within a string and is left alone.
func Answer(answer []byte) []byte {
	if !bytes.Contains(answer, []byte(`"error":{"code":`)) {
		return answer
	}
	return protocolError.ReplaceAllFunc(answer, func(found []byte) []byte {
		parts := protocolError.FindSubmatch(found)
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
