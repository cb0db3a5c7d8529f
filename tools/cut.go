package tools

import (
	"unicode/utf8"

	"github.com/kitebase/kitebase-mcp/tools/legible"
)

const (
	cutMark = "… [cut]"
	// maxField is the room for a name, a title or a status.
	maxField = 400
)

// reader reads what came from Kitebase, every word of which a model may read only as [legible.Text] leaves it: before it is
// cut, so that what nobody can see takes no room. The zero value is ready.
type reader struct {
	cleaned bool // something was removed from what was read
}

// short bounds a field that is short by nature, whatever upstream sends.
func (r *reader) short(text string) string {
	text, _ = r.cut(text, maxField)
	return text
}

// cut returns what of text is legible in at most limit bytes of JSON, and whether it had to be cut, which a mark at its end
// then says.
func (r *reader) cut(text string, limit int) (string, bool) {
	text, cleaned := legible.Text(text)
	r.cleaned = r.cleaned || cleaned
	text, short := cut(text, limit)
	if short { // a mark at the end may have belonged to what was cut off
		text, _ = legible.Text(text)
	}
	return text, short
}

// cut returns text, which is valid UTF-8, in at most limit bytes of JSON, and whether it had to be cut.
func cut(text string, limit int) (string, bool) {
	size, end := 0, 0 // end is where the text would be cut
	for i, r := range text {
		if size <= limit-len(cutMark) {
			end = i
		}
		if size += jsonSize(r); size > limit {
			return text[:end] + cutMark, true
		}
	}
	return text, false
}

// jsonSize is how many bytes encoding/json takes for r, at most.
func jsonSize(r rune) int {
	switch {
	case r == '"', r == '\\', r == '\n', r == '\r', r == '\t':
		return 2
	case r < ' ', r == '\u2028', r == '\u2029':
		return 6
	default:
		return utf8.RuneLen(r)
	}
}

// fit returns how many of the first items fit into room bytes of JSON.
func fit[T any](items []T, room int) int {
	for i, item := range items {
		room -= len(encode(item)) + len(",")
		if room < 0 {
			return i
		}
	}
	return len(items)
}
