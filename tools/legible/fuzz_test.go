package legible_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/tools/legible"
)

// never are the characters that have no place in any text, in words of Unicode rather than of the package.
func never(r rune) bool {
	switch {
	case r == '\n', r == '\t', r == '\r':
		return false
	case unicode.In(r, unicode.Cc, unicode.Co, unicode.Cs, unicode.Noncharacter_Code_Point, unicode.Bidi_Control) && !strings.ContainsRune("\u061c\u200e\u200f", r):
		return true
	default:
		return strings.ContainsRune("\u00ad\u2060\ufeff\u3164\uffa0\ufff9\ufffa\ufffb\U000e0001\U000e0020", r)
	}
}

// sometimes are those that may stand only behind something.
const sometimes = "\u034f\u061c\u200b\u200c\u200d\u200e\u200f\ufe00\ufe0e\ufe0f\U000e0067\U000e007f\U000e0100\u2d7f\U0001107f\U00013430\U00016fe4\U0001bc9d\U0001bca0"

// Whatever the text is: what comes out is legible, and stays as it is.
func FuzzText(f *testing.F) {
	for _, text := range written {
		if len(text) < 200 { // the engine spends its time on long ones
			f.Add(text)
		}
	}
	for _, test := range hidden {
		f.Add(test.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, changed := legible.Text(text)
		require.Equal(t, text != got, changed)
		requireLegible(t, got)
	})
}

// Whatever the JSON is: it means the same afterwards, but for its texts, which are legible.
func FuzzJSON(f *testing.F) {
	for _, text := range written {
		if len(text) < 200 {
			f.Add(encoded(text))
		}
	}
	for _, test := range hidden {
		f.Add(encoded(test.text))
	}
	f.Add(`{"a":[1,"\ud83d\ude80\u001b[0m",null],"\u200b":true}`)
	f.Fuzz(func(t *testing.T, document string) {
		got, changed := legible.JSON(document)
		require.Equal(t, document != got, changed)
		var before any
		if json.Unmarshal([]byte(document), &before) != nil {
			return
		}
		again, changed := legible.JSON(got)
		require.False(t, changed, again)
		var after any
		require.NoError(t, json.Unmarshal([]byte(got), &after))
		if list, ok := before.([]any); ok && len(list) == 1 {
			if text, ok := list[0].(string); ok {
				want, _ := legible.Text(text)
				require.Equal(t, []any{want}, after)
			}
		}
	})
}

// Text leaves what it returns alone, and JSON means the same by it, for what random pieces make: each rule has its own in there.
func TestTextLeavesItsOwnAlone(t *testing.T) {
	pieces := strings.Split("a 1 + . \t \n \r \\ \" \x01 \x1b[0m \x1b] \a \u05e9 \u05dc \u0627 \u0661 \u0601 \u070f \u0710 \u0300 \u05b8 \u05b8\u05b8\u05b8\u05b8\u05b8\u05b8\u05b8\u05b8\u05b8\u05b8 "+
		"\u200b \u200c \u200d \u200e \u200f \u061c \u034f \ufe00 \ufe0e \ufe0f \U000e0100 \U000e0120 葛 ❤ 😀 ∩ ก \u0915 \u094d \u182a \u180b \u2800 \u2801 "+
		"\U00013000 \U00013430 \U0001d15f \U0001d173 \U0001d159 \u20e3 \ufffd \xff 🏴 \U000e0067", " ")
	pieces = append(pieces, " ", strings.Repeat("\u2800", 70), strings.Repeat("-", 70), strings.Repeat("\u200b", 70))
	random := rand.New(rand.NewPCG(3, 4))
	for range 20_000 {
		few := make([]string, 2+random.IntN(8)) // so that each meets each often
		for i := range few {
			few[i] = pieces[random.IntN(len(pieces))]
		}
		var text strings.Builder
		for range 1 + random.IntN(60) {
			text.WriteString(few[random.IntN(len(few))])
		}
		got, changed := legible.Text(text.String())
		again, _ := legible.Text(got)
		if got != again || changed != (got != text.String()) {
			require.Equal(t, got, again, "%+q", text.String())
			require.Failf(t, "changed is wrong", "%+q", text.String())
		}
		if document := encoded(text.String()); utf8.ValidString(text.String()) {
			var meant []string
			cleaned, dirty := legible.JSON(document)
			require.NoError(t, json.Unmarshal([]byte(cleaned), &meant))
			if dirty != changed || meant[0] != got {
				require.Equal(t, got, meant[0], "%+q", text.String())
				require.Failf(t, "JSON says otherwise", "%+q", text.String())
			}
		}
	}
}

func encoded(text string) string {
	document, err := json.Marshal([]string{text})
	if err != nil {
		panic(err) // a string always encodes
	}
	return string(document)
}

func requireLegible(t testing.TB, text string) {
	require.True(t, utf8.ValidString(text))
	again, changed := legible.Text(text)
	require.Equal(t, text, again)
	require.False(t, changed)
	marks := 0
	previous := rune(0)
	for i, r := range text {
		require.False(t, never(r), "%U at %d", r, i)
		require.False(t, r == '\r' && !strings.HasPrefix(text[i:], "\r\n"), "a lone CR at %d", i)
		require.False(t, strings.ContainsRune(sometimes, r) && (previous < 0x80 && !strings.ContainsRune("0123456789#*", previous)) &&
			!laterScript(text[i+utf8.RuneLen(r):]) && !strings.ContainsRune("\u200e\u200f\u061c", r), "%U at %d", r, i)
		switch {
		case strings.ContainsRune(sometimes, r), unicode.Is(unicode.Variation_Selector, r):
		case unicode.In(r, unicode.Mn, unicode.Me):
			marks++
		default:
			marks = 0
		}
		require.LessOrEqual(t, marks, 10)
		previous = r
	}
}

// laterScript reports whether rest begins with a letter beyond Latin: Persian has a ZWNJ between the two.
func laterScript(rest string) bool {
	r, _ := utf8.DecodeRuneInString(rest)
	return r >= 0x600 && unicode.IsLetter(r)
}
