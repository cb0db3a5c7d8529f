package resilience

import (
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/kitebase/kitebase-mcp/tools/legible"
)

// What words.go is written with: counts, times, and one line of plain text.

func tries(n int) string {
	if n == 1 {
		return "1 try"
	}
	return strconv.Itoa(n) + " tries"
}

// seconds returns d as seconds with at most one decimal; below 0.1s with three, and what is not nothing is at least 0.001s.
// It never writes an exponent.
func seconds(d time.Duration) string {
	step := 100 * time.Millisecond
	if d < step {
		step = time.Millisecond
		if d > 0 {
			d = max(d, step)
		}
	}
	return strconv.FormatFloat(d.Round(step).Seconds(), 'f', -1, 64) + "s"
}

func isSentence(s string) bool { return strings.HasSuffix(s, ".") || strings.HasSuffix(s, "?") }

func asSentence(s string) string {
	if isSentence(s) {
		return s
	}
	return s + "."
}

func joinWords(parts ...string) string {
	var said []string
	for _, part := range parts {
		if part != "" {
			said = append(said, part)
		}
	}
	return strings.Join(said, " ")
}

// plain makes text one legible line under the limit, whatever a reason brought along.
func plain(text string) string {
	text, _ = legible.Text(strings.ToValidUTF8(text, "?"))
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
	if len(text) <= maxWords {
		return text
	}
	cut := maxWords - len("…")
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}
