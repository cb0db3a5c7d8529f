package stdio_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server/stdio"
)

// FuzzServe states: whatever comes in, Serve returns, every line that comes out is a JSON-RPC message, and every object
// with an id is answered once under that id, unless it is an answer itself or was cancelled.
func FuzzServe(f *testing.F) {
	for _, seed := range []string{
		ping("1") + "\n" + call(`"1"`) + "\r\n\n" + call("1") + "\n" + initialize("3"),
		call("1") + "\n" + cancelLine("1") + "\n" + modern("2", "server/discover", ""),
		`{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`,
		`{"method":"\u0070ing","jsonrpc":"2.0","id":"\u0061","ID":3}`,
		`{"jsonrpc":"2.0","id":-1.5e3,"method":"tools/call","params":{"name":{}}}` + "\n[]\n{}\nnull\n\"\\",
		// Each of these found a second answer under an id, to a line that is no JSON or no request.
		`{"id":1}` + "\n" + ping("1"),
		call("1") + "\n" + `{"jsonrpc":"2.0","id":1,"method":"l","params":{"a""b"}}`,
		"{\"\x850\":00,\"id\":0}\n{\"id\":0}",
		`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"` + strings.Repeat("y", 300) + `"}}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, input string) {
		want, cancels := requestIDs(input)
		got := map[string]int{}
		for _, line := range serve(t, input, stdio.Config{}) {
			var a answer
			require.NoError(t, json.Unmarshal([]byte(line), &a), line)
			require.True(t, a.Error != nil || a.Result != nil || a.Method != "", line)
			got[string(a.ID)]++
		}
		for id, n := range want {
			if cancels {
				require.LessOrEqual(t, got[id], n, "answers under id %s", id)
				continue
			}
			require.Equal(t, n, got[id], "answers under id %s", id)
		}
	})
}

// requestIDs counts the objects to be answered in an input by their ids, and says whether something is cancelled in it, by the standard
// library's reading of JSON.
func requestIDs(input string) (ids map[string]int, cancels bool) {
	ids = map[string]int{}
	for line := range strings.SplitSeq(input, "\n") {
		var members map[string]json.RawMessage
		if json.Unmarshal([]byte(strings.TrimSpace(line)), &members) != nil {
			continue
		}
		var method string
		_ = json.Unmarshal(members["method"], &method)
		cancels = cancels || method == "notifications/cancelled"
		_, result := members["result"]
		_, failure := members["error"]
		if method == "" && (result || failure) {
			continue // an answer to a request of ours
		}
		id := string(members["id"])
		if id != "" && strings.Trim(id[:1], `"-0123456789`) == "" && utf8.ValidString(id) {
			ids[id]++
		}
	}
	return ids, cancels
}
