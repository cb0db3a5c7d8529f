package wording_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server/wording"
)

func TestPublic(t *testing.T) {
	for message, want := range map[string]string{
		"unparsable tools/call request: json: cannot unmarshal number into Go struct field CallToolRequest.params.name of type string": wording.Unfit,
		"illegal base64 data at input byte 0":   wording.Unfit,
		"tool 'nope' not found: tool not found": "tool 'nope' not found",
		"Not run: the message is too long.":     "Not run: the message is too long.",
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
