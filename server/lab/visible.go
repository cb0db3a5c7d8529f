package lab

import (
	"fmt"
	"strings"
	"unicode"
)

// visible writes what would act on a terminal or turn a line around as it stands in JSON, such as \u001b. Everything that the lab
// prints goes through it, since the servers that are driven are anybody's. A document in JSON still says the same.
func visible(text string) string {
	var shown strings.Builder
	for _, r := range strings.ReplaceAll(text, "\r\n", "\n") {
		if r == '\n' || r == '\t' || !unicode.IsControl(r) && !unicode.Is(unicode.Bidi_Control, r) {
			shown.WriteRune(r)
			continue
		}
		fmt.Fprintf(&shown, `\u%04x`, r) // none has more than four digits
	}
	return shown.String()
}
