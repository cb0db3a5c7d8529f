package legible

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// directs reports whether a direction mark before rest can move anything: of the letters of the line that come before and
// after it, one runs from right to left, and not both of them do so and touch it. It is one mark, not a row of them.
func (s *scan) directs(rest string) bool {
	if isDirectionMark(s.last) {
		return false
	}
	after, touches := letterAhead(rest)
	inWord := touches && s.onLetter() && isLetterFromRight(s.base)
	return (s.fromRight || after) && !inWord
}

// letterAhead reports whether the next letter of the line runs from right to left, and whether it comes at once, or may: what
// will be removed in between does not keep them apart.
func letterAhead(rest string) (fromRight, touches bool) {
	touches = true
	for range farthest {
		r, size := utf8.DecodeRuneInString(rest)
		switch {
		case r == '\n', r == '\r', r == '\v', r == '\f', r == nextLine, r == utf8.RuneError:
			return false, false
		case r < ' ' && r != '\t', 0x7f <= r && r <= 0x9f:
			return false, touches
		case isInvisible(r), unicode.In(r, unicode.Mn, unicode.Me):
		case unicode.IsLetter(r):
			fromRight = isLetterFromRight(r)
			return fromRight, fromRight && touches
		default:
			touches = false
		}
		rest = rest[size:]
	}
	return false, touches
}

// ran takes note of the direction of a kept character.
func (s *scan) ran(r rune) {
	switch {
	case r >= 0x590 && isLetterFromRight(r):
		s.fromRight = true
	case s.fromRight && (unicode.IsLetter(r) || r == '\n'):
		s.fromRight = false
	}
}

// ranASCII does so for a run of them.
func (s *scan) ranASCII(run string) {
	if s.fromRight && strings.ContainsFunc(run, func(r rune) bool { return r == '\n' || unicode.IsLetter(r) }) {
		s.fromRight = false
	}
}

func isDirectionMark(r rune) bool {
	return r == leftToRightMark || r == rightToLeftMark || r == arabicMark
}

// isLetterFromRight reports whether r is a letter in one of the blocks that Unicode has for scripts from right to left.
func isLetterFromRight(r rune) bool {
	inBlock := 0x590 <= r && r <= 0x8ff || 0xfb1d <= r && r <= 0xfdff || 0xfe70 <= r && r <= 0xfeff ||
		0x10800 <= r && r <= 0x10fff || 0x1e800 <= r && r <= 0x1efff
	return inBlock && unicode.IsLetter(r)
}
