package tools

import (
	"strings"
	"unicode/utf8"
)

const (
	cutMark = "… [cut]"
	// maxField is the room for a name, a title or a status.
	maxField = 400
)

// short bounds a field that is short by nature, whatever upstream sends.
func short(text string) string {
	text, _ = cut(text, maxField)
	return text
}

// cut returns text as valid UTF-8 that takes at most limit bytes in JSON, and whether it had to be cut, which a mark at
// its end then says.
func cut(text string, limit int) (string, bool) {
	text = strings.ToValidUTF8(text, string(utf8.RuneError))
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
