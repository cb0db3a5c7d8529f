package tools_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/tools"
)

// A host that cut a text between the halves of an emoji once had an agent mail "�" to a customer: encoding/json
// replaces what it cannot decode and says nothing.
func TestDamagedText(t *testing.T) {
	for name, message := range map[string]string{
		"lone high surrogate":       `"see you \ud83d"`,
		"lone low surrogate":        `"\ude80 launch"`,
		"high surrogate twice":      `"\ud83d\ud83d\ude80"`,
		"halves in the wrong order": `"\ude80\ud83d"`,
		"half before another":       `"\ud83d\u0041"`,
		"upper case":                `"\uD83D!"`,
		"invalid byte":              "\"caf\xe9\"",
		"surrogate in UTF-8":        "\"\xed\xa0\xbd\"",
		"cut sequence":              "\"\xf0\x9f\x9a\"",
	} {
		t.Run(name, func(t *testing.T) {
			var silent string
			require.NoError(t, json.Unmarshal([]byte(message), &silent), "encoding/json lets it pass")
			_, _, err := tools.ReplyArguments(wireRequest(`{"ticket_id":"KITE-1","message":` + message + `}`))
			require.Equal(t, "The message contains damaged characters. Write it again as plain text.", requireRefused(t, err))
		})
	}
}

func TestUndamagedText(t *testing.T) {
	for name, test := range map[string]struct{ message, want string }{
		"escaped pair":          {`"\ud83d\ude80"`, "🚀"},
		"two pairs":             {`"\ud83d\ude80\ud83d\ude80"`, "🚀🚀"},
		"replacement character": {`"why do I see �?"`, "why do I see \uFFFD?"},
		"escaped replacement":   {`"\ufffd"`, "\uFFFD"},
		"escaped backslash":     {`"C:\\ud83d"`, `C:\ud83d`},
		"NFD and CRLF are kept": {`"cafe\u0301\r\nbye"`, "cafe\u0301\r\nbye"},
		"Python's white space":  {`"\u001c\u00a0 Hello\u001f\n"`, "Hello"},
	} {
		t.Run(name, func(t *testing.T) {
			_, got, err := tools.ReplyArguments(wireRequest(`{"ticket_id":"KITE-1","message":` + test.message + `}`))
			require.NoError(t, err)
			require.Equal(t, test.want, got)
		})
	}
}
