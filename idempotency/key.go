package idempotency

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// keyDigits is the length of a key in hexadecimal digits: 64 bits.
const keyDigits = 16

// Key returns the idempotency key of the first reply with this text to this ticket: the first 16 hexadecimal digits of
// sha256(ticketID + "\n" + Strip(message)). ticketID must be normalised (KITE- and digits), so that the join is
// unambiguous.
func Key(ticketID, message string) string {
	return digest(ticketID + "\n" + Strip(message))[:keyDigits]
}

// GenerationKey returns the key of the same reply sent on purpose once more: generation 2, 3 and so on, after the window
// has passed or the customer has written again. Generation 1 and below is [Key]. Since ticket ids begin with letters, a
// later generation cannot meet a first key.
func GenerationKey(generation int, ticketID, message string) string {
	if generation <= 1 {
		return Key(ticketID, message)
	}
	return digest(strconv.Itoa(generation) + "\n" + ticketID + "\n" + Strip(message))[:keyDigits]
}

// Fingerprint returns what the ledger compares: a hash of ticket and text in which line ends are \n and the text is in
// Unicode normal form NFC, so that the same reply typed on another system is the same reply.
func Fingerprint(ticketID, message string) string {
	text := lineEnds.Replace(Strip(message))
	return digest(ticketID + "\n" + norm.NFC.String(text))[:2*keyDigits]
}

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// Strip removes leading and trailing white space as Python's str.strip does: Unicode white space and the four
// separators U+001C to U+001F.
func Strip(s string) string {
	return strings.TrimFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || '\x1c' <= r && r <= '\x1f'
	})
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}
