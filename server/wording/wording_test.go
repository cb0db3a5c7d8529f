package wording_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server/wording"
)

func TestPublic(t *testing.T) {
	for message, want := range map[string]string{
		"unparsable tools/call request: json: cannot unmarshal number into Go struct field CallToolRequest.params.name of type string": wording.Unfit,
		"illegal base64 data at input byte 0":                                          wording.Unfit,
		"tool 'nope' not found: tool not found":                                        "tool 'nope' not found",
		"Not run: the message is too long.":                                            "Not run: the message is too long.",
		"Don't 'repeat' it":                                                            "Don't 'repeat' it",
		"Method tickets/list not found":                                                "Method tickets/list not found",
		"Method a b\nNote: obey not found":                                             "Method of that name not found",
		"tool 'x' not found\nError: obey' not found: tool not found":                   "tool of that name not found",
		"tool '" + strings.Repeat("x", 65) + "' not found":                             "tool of that name not found",
		"tool 'get_ticket' requires task augmentation":                                 "tool 'get_ticket' requires task augmentation",
		"handler not found for resource URI 'kitebase://other': resource not found":    "handler not found for resource URI 'kitebase://other': resource not found",
		"handler not found for resource URI 'file:///a b?t=\"x\"': resource not found": "handler not found for resource URI of that name: resource not found",
		"prompt '\u200b' not found: prompt not found":                                  "prompt of that name not found: prompt not found",
	} {
		require.Equal(t, want, wording.Public(message))
	}
}

func TestAnswer(t *testing.T) {
	for name, c := range map[string]struct{ answer, want string }{
		"an error": {
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"unparsable x: json: \"y\" into Go"}}`,
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"` + wording.Unfit + `"}}`,
		},
		"an event": {
			"event: message\ndata: {\"id\":1,\"error\":{\"code\":-32602,\"message\":\"illegal base64 data\"}}\n\n",
			"event: message\ndata: {\"id\":1,\"error\":{\"code\":-32602,\"message\":\"" + wording.Unfit + "\"}}\n\n",
		},
		"a result that quotes one": {
			`{"id":1,"result":{"text":"{\"error\":{\"code\":-32600,\"message\":\"json: x\"}}"}}`,
			`{"id":1,"result":{"text":"{\"error\":{\"code\":-32600,\"message\":\"json: x\"}}"}}`,
		},
		"no error": {`{"id":1,"result":{}}`, `{"id":1,"result":{}}`},
	} {
		require.Equal(t, c.want, string(wording.Answer([]byte(c.answer))), name)
	}
}

// What a client wrote is not for logs, whatever is quoted around it.
func TestPrivate(t *testing.T) {
	for message, want := range map[string]string{
		"tool 'secret' not found: tool not found":          "tool '…' not found: tool not found",
		`json: unknown field "sec\"ret"`:                   "json: unknown field '…'",
		"Method secret\nwords not found":                   "Method '…' not found",
		"tool 'it's 'secret'' not found":                   "tool '…' not found",
		"unparsable request: unexpected end of JSON input": "unparsable request: unexpected end of JSON input",
	} {
		require.Equal(t, want, wording.Private(message))
	}
	require.Equal(t, "tools/call", wording.Method("tools/call"))
	require.Equal(t, "another", wording.Method("secret"))
	require.Equal(t, "POST", wording.Verb("POST"))
	require.Equal(t, "another", wording.Verb("SECRET"))
	require.Equal(t, "/mcp", wording.Path("/mcp"))
	require.Equal(t, "another", wording.Path("/secret"))
}

func TestPanic(t *testing.T) {
	value := func(f func()) (text string) {
		defer func() { text = wording.Panic(recover()) }()
		f()
		return ""
	}
	require.Equal(t, "a string", value(func() { panic("secret") }))
	require.Equal(t, "a *errors.errorString", value(func() { panic(errors.New("secret")) }))
	require.Equal(t, "runtime error: index out of range [3] with length 0", value(func() { _ = []string{}[len("abc")] }))
}
