package legible

import (
	"encoding/json"
	"strings"
)

// JSON returns a JSON document whose strings, names included, are as [Text] leaves them, and whether that changed it. What
// is not JSON may come back unchanged. A document that needs no change costs no memory, unless it has rare escapes. It is
// safe for concurrent use.
func JSON(document string) (legible string, changed bool) {
	var out strings.Builder
	copied := 0
	for at := strings.IndexByte(document, '"'); at >= 0 && at < len(document); {
		size, rare := literal(document[at:])
		if cleaned, dirty := cleanLiteral(document[at:at+size], rare); dirty {
			out.WriteString(document[copied:at])
			out.WriteString(cleaned)
			copied, changed = at+size, true
		}
		at += size
		next := strings.IndexByte(document[at:], '"')
		if next < 0 {
			break
		}
		at += next
	}
	if !changed {
		return document, false
	}
	out.WriteString(document[copied:])
	return out.String(), true
}

// literal returns the length of the string literal with which text begins, and whether it has an escape that may stand for
// something that is not legible.
func literal(text string) (size int, rare bool) {
	for at := 1; at < len(text); at++ {
		switch text[at] {
		case '"':
			return at + 1, rare
		case '\\':
			at++
			rare = rare || at < len(text) && strings.IndexByte(`n"\t/`, text[at]) < 0
		}
	}
	return len(text), rare
}

// cleanLiteral returns a string literal with a legible text, and whether it is another one. The frequent escapes stand for
// characters that change nothing about their neighbours, so the literal need not be decoded to see that it is legible.
func cleanLiteral(text string, rare bool) (string, bool) {
	if !rare {
		if _, dirty := Text(text); !dirty {
			return text, false
		}
	}
	var meant string
	if json.Unmarshal([]byte(text), &meant) != nil {
		return text, false
	}
	meant, dirty := Text(meant)
	if !dirty {
		return text, false
	}
	var encoded strings.Builder
	encoder := json.NewEncoder(&encoded)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(meant) != nil { // a string always encodes
		return text, false
	}
	return strings.TrimSuffix(encoded.String(), "\n"), true
}
