package idempotency_test

import (
	"bufio"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/kitebase/kitebase-mcp/idempotency"
)

func TestKeyVectors(t *testing.T) {
	file, err := os.Open("testdata/reply_key.jsonl")
	require.NoError(t, err)
	defer file.Close()
	lines := bufio.NewScanner(file)
	count := 0
	for lines.Scan() {
		var vector struct {
			TicketID string `json:"ticket_id"`
			Message  string
			Key      string
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &vector))
		require.Equal(t, vector.Key, idempotency.Key(vector.TicketID, vector.Message), "%s", lines.Text())
		count++
	}
	require.NoError(t, lines.Err())
	require.Positive(t, count)
}

func TestGenerationKey(t *testing.T) {
	first := idempotency.Key("KITE-142", "Any update?")
	require.Equal(t, "9edb4ee9f524df95", first)
	require.Equal(t, first, idempotency.GenerationKey(1, "KITE-142", "Any update?"))
	second := idempotency.GenerationKey(2, "KITE-142", "Any update?")
	require.NotEqual(t, first, second)
	require.NotEqual(t, second, idempotency.GenerationKey(3, "KITE-142", "Any update?"))
	require.Equal(t, second, idempotency.GenerationKey(2, "KITE-142", " Any update?\n"))
}

func TestFingerprint(t *testing.T) {
	same := func(a, b string) bool {
		return idempotency.Fingerprint("KITE-1", a) == idempotency.Fingerprint("KITE-1", b)
	}
	require.True(t, same("one\ntwo", "one\r\ntwo"), "CRLF")
	require.True(t, same("one\ntwo", "one\rtwo"), "CR")
	require.True(t, same("Gr\u00fc\u00dfe", "Gru\u0308\u00dfe"), "NFC and NFD")
	require.True(t, same("x", "\u2003x\u001c"), "white space around")
	require.False(t, same("one two", "one  two"), "white space within")
	require.False(t, same("x", "X"), "case")
	require.NotEqual(t, idempotency.Fingerprint("KITE-1", "x"), idempotency.Fingerprint("KITE-2", "x"))
}

// Python's str.strip removes what str.isspace knows: these and no others.
func TestStripIsPythons(t *testing.T) {
	const pythonSpace = "\t\n\v\f\r\x1c\x1d\x1e\x1f \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007" +
		"\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
	for r := rune(0); r <= 0xffff; r++ {
		if 0xd800 <= r && r <= 0xdfff {
			continue
		}
		got := idempotency.Strip(string(r)) == ""
		require.Equal(t, strings.ContainsRune(pythonSpace, r), got, "%U", r)
	}
}

func FuzzKey(f *testing.F) {
	f.Add("KITE-142", "Any update?")
	f.Add("KITE-1", "\x1c\xff \u2003")
	shape := regexp.MustCompile(`^[0-9a-f]{16}$`)
	f.Fuzz(func(t *testing.T, ticket, message string) {
		key := idempotency.Key(ticket, message)
		require.Regexp(t, shape, key)
		require.Equal(t, key, idempotency.Key(ticket, " \n"+message+"\t"), "white space around does not matter")
		require.Equal(t, key, idempotency.Key(ticket, idempotency.Strip(message)))
		require.NotEqual(t, key, idempotency.GenerationKey(2, ticket, message))
		plain := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(message)
		for _, end := range []string{"\n", "\r\n", "\r"} {
			require.Equal(t, idempotency.Fingerprint(ticket, message), idempotency.Fingerprint(ticket, strings.ReplaceAll(plain, "\n", end)))
		}
	})
}

func TestKeysOfDifferentRepliesDiffer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOfNDistinct(rapid.StringMatching(`KITE-[0-9]{1,9}`), 2, 2, rapid.ID[string]).Draw(t, "ids")
		message := rapid.String().Draw(t, "message")
		if idempotency.Key(ids[0], message) == idempotency.Key(ids[1], message) {
			t.Fatalf("one key for %v with %q", ids, message)
		}
	})
}
