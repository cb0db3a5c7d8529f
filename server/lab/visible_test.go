package lab_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server/lab"
)

// hostile is what a server may write to whoever reads the card: it sets the title of the terminal and clears it, turns text
// around, and uses the control characters of one byte that have a second form.
const hostile = "\x1b]0;owned\a\x1b[2J \u202eyltneliS\u2066 \u009b31m \x7f \u200f\u061c \r over"

// acts reports whether a character does something else than to be seen.
func acts(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r))
}

// TestVisible: nothing of what a server wrote acts on the reader of the card, whatever it was written to.
func TestVisible(t *testing.T) {
	t.Parallel()
	answer := func(member string) string {
		quoted, err := json.Marshal(hostile)
		require.NoError(t, err)
		return strings.ReplaceAll(member, "it", string(quoted))
	}
	for name, flags := range map[string][]string{
		"an answer":        {"-sends=1", "-answer=" + answer(`"result":{"content":[{"type":"text","text":it}]}`)},
		"an error":         {"-sends=0", "-answer=" + answer(`"result":{"isError":true,"content":[{"type":"text","text":it}]}`)},
		"a protocol error": {"-sends=0", "-answer=" + answer(`"error":{"code":-32603,"message":it}`)},
		"the last words":   {"-does=dies", "-answer=" + hostile},
		"a banner":         {"-prints=" + hostile + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report := run(t, config(t, []string{"once/well"}, flags...))
			var table, document bytes.Buffer
			require.NoError(t, report.WriteTable(&table))
			require.NoError(t, report.WriteJSON(&document))
			for _, text := range []string{table.String(), document.String(), page(t, report)} {
				require.Negative(t, strings.IndexFunc(text, acts), "%q", text)
			}
			require.Contains(t, page(t, report), `\u001b]0;owned\u0007`)
			var again lab.Report
			require.NoError(t, json.Unmarshal(document.Bytes(), &again))
			require.Equal(t, fmt.Sprintf("%q", report.Cases[0].LastWords), fmt.Sprintf("%q", again.Cases[0].LastWords))
			require.Equal(t, report.Cases[0].Calls[0].Text, again.Cases[0].Calls[0].Text, "a document says what was said")
			require.Equal(t, report.Cases[0].Findings, again.Cases[0].Findings)
		})
	}
	t.Run("a first start that fails", func(t *testing.T) {
		t.Parallel()
		c := config(t, nil, "-prints="+hostile+"\n", "-adds=\"x\":\"\u202e\"")
		c.StartLimit = 2 * time.Second
		_, err := lab.Run(t.Context(), c)
		require.ErrorContains(t, err, `\u001b]0;owned`)
		require.Negative(t, strings.IndexFunc(err.Error(), acts), "%q", err)
	})
}
