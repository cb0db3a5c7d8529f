package stdio_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server/stdio"
)

const pong = `{"jsonrpc":"2.0","id":1,"result":{}}`

func refused(id, code, words string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"error":{"code":` + code + `,"message":"` + words + `"}}`
}

// Every case is followed by a ping, which must be served.
func TestLines(t *testing.T) {
	const (
		notJSON = "The line is not valid JSON."
		noUTF8  = "Not run: the message is not valid UTF-8."
		noID    = "An id must be a number or a string."
		unfit   = "Not run: the parameters of the request do not fit its method."
		tooLong = "Not run: the message is longer than 200000 bytes."
	)
	long := strings.Repeat("x", 200_000)
	cases := []struct{ name, in, want string }{
		{"ping", ping("1"), pong},
		{"white space around", " \t" + ping("1") + " \r", pong},
		{"carriage return", ping("1") + "\r", pong},
		{"blank", "", ""},
		{"blank with carriage return", "\r", ""},
		{"only white space", " \t ", ""},
		{"longer than the buffer", strings.Repeat(" ", 100_000) + ping("1") + strings.Repeat(" ", 300_000), pong},

		{"string id", ping(`"a b"`), `{"jsonrpc":"2.0","id":"a b","result":{}}`},
		{"id beyond 2^53", ping("9007199254740993"), `{"jsonrpc":"2.0","id":9007199254740993,"result":{}}`},
		{"id with a fraction", ping("1.50"), `{"jsonrpc":"2.0","id":1.50,"result":{}}`},
		{"id beyond float64", ping("1e999"), refused("1e999", "-32600", unfit)},
		{"id null", ping("null"), refused("null", "-32600", noID)},
		{"id true", ping("true"), refused("null", "-32600", noID)},
		{"id object", ping(`{"a":"}"}`), refused("null", "-32600", noID)},
		{"id twice", `{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`,
			refused("2", "-32600", "The member id is given twice.")},
		{"id in capitals", `{"jsonrpc":"2.0","ID":1,"method":"ping"}`,
			refused("null", "-32600", "Members must be written in lower case: id.")},
		{"id with an escape", `{"jsonrpc":"2.0","\u0069d":1,"method":"ping"}`, pong},
		{"id last", `{"method":"ping","jsonrpc":"2.0","id":1}`, pong},

		{"words", "hello", refused("null", "-32700", notJSON)},
		{"cut off", `{"jsonrpc":"2.0","id":1,"method":"pi`, refused("null", "-32700", notJSON)},
		{"cut off after an escape", `{"jsonrpc":"2.0","id":1,"method":"pi\`, refused("null", "-32700", notJSON)},
		{"two on a line", ping("1") + ping("2"), refused("null", "-32700", notJSON)},
		{"broken inside", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":tru}}`, refused("null", "-32700", notJSON)},
		{"broken and malformed", `{"jsonrpc":"1.0","id":1,"method":"ping","params":{"a":tru}}`,
			refused("null", "-32700", notJSON)},
		{"NUL", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\x00\"}", refused("null", "-32700", notJSON)},
		{"NUL alone", "\x00", refused("null", "-32700", notJSON)},
		{"invalid UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"a\":\"\xff\"}}",
			refused("1", "-32700", noUTF8)},
		{"invalid UTF-8 in the id", ping("\"\xff\""), refused("null", "-32700", noUTF8)},

		{"number", "1", refused("null", "-32600", "A message must be a JSON object.")},
		{"batch", "[" + ping("1") + "]", refused("null", "-32600", "Batches are not served. Send one message a line.")},
		{"empty object", "{}", refused("null", "-32600", `The member jsonrpc must be \"2.0\".`)},
		{"version 1.0", `{"jsonrpc":"1.0","id":1,"method":"ping"}`,
			refused("1", "-32600", `The member jsonrpc must be \"2.0\".`)},
		{"version as a number", `{"jsonrpc":2.0,"id":1,"method":"ping"}`,
			refused("1", "-32600", `The member jsonrpc must be \"2.0\".`)},
		{"no method", `{"jsonrpc":"2.0","id":1}`, refused("1", "-32600", "A message needs a method.")},
		{"method as a number", `{"jsonrpc":"2.0","id":1,"method":5}`,
			refused("1", "-32600", "The method must be a string that is not empty.")},
		{"backslashes and quotes", `{"jsonrpc":"2.0","params":{"a\"}":["x\\","}\"\\"]},"id":1,"method":"ping"}`, pong},
		{"unknown method", `{"jsonrpc":"2.0","id":1,"method":"no/such"}`,
			refused("1", "-32601", "Method no/such not found")},
		{"params as an array", `{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}`,
			refused("1", "-32600", "The member params must be an object.")},
		{"params of another shape", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":5}}`,
			refused("1", "-32600", unfit)},
		{"request and answer", `{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}`,
			refused("1", "-32600", "A message is either a request or an answer, not both.")},

		{"answer", `{"jsonrpc":"2.0","id":1,"result":{}}`, ""},
		{"error answer", `{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}`, ""},
		{"unknown notification", `{"jsonrpc":"2.0","method":"notifications/no-such"}`, ""},
		{"call without id", `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"tool"}}`, ""},

		{"too long, id first", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"` + long + `"}}`,
			refused("1", "-32600", tooLong)},
		{"too long, id last", `{"method":"ping","params":{"id":2,"a":"` + long + `"},"jsonrpc":"2.0","id": "a\"b" } `,
			refused(`"a\"b"`, "-32600", tooLong)},
		{"too long, an id inside", `{"jsonrpc":"2.0","method":"ping","params":{"a":"` + long + `","id":2}}`,
			refused("null", "-32600", tooLong)},
		{"too long, a string id that is cut", `{"id":"` + long, refused("null", "-32600", tooLong)},
		{"too long, by one", `{"id":7,"a":"` + long[:200_000-14] + `"}`, refused("7", "-32600", tooLong)},
		{"just not too long", `{"id":7,"a":"` + long[:200_000-15] + `"}` + "\r",
			refused("7", "-32600", `The member jsonrpc must be \"2.0\".`)},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			after := `{"jsonrpc":"2.0","id":"after","result":{}}`
			got := serve(t, c.in+"\n"+ping(`"after"`), stdio.Config{MaxLine: 200_000})
			require.Contains(t, got, after)
			got = remove(got, after)
			if c.want == "" {
				require.Empty(t, got)
				return
			}
			require.Equal(t, []string{c.want}, got)
		})
	}
}

func TestShortLimitOfLines(t *testing.T) {
	got := serve(t, ping("1")+"\n"+ping("12345678901234567890"), stdio.Config{MaxLine: len(ping("1"))})
	require.ElementsMatch(t, []string{pong, refused("12345678901234567890", "-32600",
		"Not run: the message is longer than 40 bytes.")}, got)
}

// serve returns the lines that answer an input.
func serve(t testing.TB, input string, cfg stdio.Config) []string {
	var out strings.Builder
	require.NoError(t, stdio.Serve(t.Context(), tool(done), strings.NewReader(input), &out, cfg))
	if out.Len() == 0 {
		return nil
	}
	require.True(t, strings.HasSuffix(out.String(), "\n"))
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}

func remove(lines []string, line string) []string {
	var kept []string
	for _, l := range lines {
		if l != line {
			kept = append(kept, l)
		}
	}
	return kept
}
