package tools

import (
	"encoding/json"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// damaged reports whether a JSON string holds bytes that are not UTF-8, or half of a surrogate pair.
func damaged(raw json.RawMessage) bool {
	if !utf8.Valid(raw) {
		return true
	}
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		i++ // the escaped character, so that \\u is not taken for an escape
		unit, ok := escapedUnit(raw[i-1:])
		if !ok || !utf16.IsSurrogate(unit) {
			continue
		}
		low, _ := escapedUnit(raw[min(i+5, len(raw)):])
		if utf16.DecodeRune(unit, low) == utf8.RuneError {
			return true
		}
		i += 10 // the rest of both escapes
	}
	return false
}

// escapedUnit reads the UTF-16 code unit of an escape like \u00e9 at the beginning of raw.
func escapedUnit(raw []byte) (rune, bool) {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return 0, false
	}
	unit, err := strconv.ParseUint(string(raw[2:6]), 16, 16)
	return rune(unit), err == nil
}

// validStrings looks for invalid UTF-8 before json.Marshal hides it.
func validStrings(given map[string]any) bool {
	for _, value := range given {
		if text, ok := value.(string); ok && !utf8.ValidString(text) {
			return false
		}
	}
	return true
}
