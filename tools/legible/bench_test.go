package legible_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/tools/legible"
)

// A result that needs no change, which is nearly every one, must cost no memory.
func TestCleanTextCostsNoMemory(t *testing.T) {
	for name, text := range written {
		require.Zero(t, testing.AllocsPerRun(10, func() { legible.Text(text) }), name)
	}
	document, err := json.Marshal([]string{written["Hindi"], written["emoji families"], "a\n\"b\"\t\\"})
	require.NoError(t, err)
	text := string(document)
	require.Zero(t, testing.AllocsPerRun(10, func() { legible.JSON(text) }))
}

func BenchmarkText(b *testing.B) {
	for name, text := range map[string]string{
		"English": strings.Repeat("I cannot sign in since yesterday. ", 600),
		"Russian": strings.Repeat("Не могу войти со вчерашнего дня. ", 350),
		"Hindi":   strings.Repeat(written["Hindi"], 150),
		"dirty":   strings.Repeat("I cannot\u200b sign\x1b[31m in. ", 600),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				legible.Text(text)
			}
		})
	}
}

func BenchmarkJSON(b *testing.B) {
	document, err := json.Marshal(map[string]any{"messages": []string{strings.Repeat("I cannot sign in.\n\"Hello\" ", 700)}})
	require.NoError(b, err)
	text := string(document)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		legible.JSON(text)
	}
}
