package legible

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Note is what a result says from whose text something was removed.
const Note = "Invisible or control characters were removed from the text of this result."

// maxMarks is how many combining marks may follow each other.
const maxMarks = 10

// Text returns text without what a reader could not see, as the package comment says, and whether that changed it. What it
// returns is valid UTF-8, and Text leaves it alone. A text that needs no change costs no memory. It is safe for concurrent
// use.
func Text(text string) (legible string, changed bool) {
	s := scan{text: text}
	for s.run(); s.excess; s.run() {
		s.restart()
	}
	return s.result()
}

// run goes through the text, up to the place where it had too many of a kind.
func (s *scan) run() {
	for at := 0; at < len(s.text) && !s.excess; {
		if n := plain(s.text[at:]); n > 0 {
			s.ranASCII(s.text[at : at+n])
			at += n
			s.base = rune(s.text[at-1])
			s.last, s.marks = s.base, 0
			continue
		}
		size, keep, instead := s.judge(at)
		if !keep {
			s.replace(at, size, instead)
		}
		at += size
	}
}

// plain returns how many bytes text begins with that are characters of ASCII which always stay.
func plain(text string) int {
	for i := range len(text) {
		if c := text[i]; (c < ' ' || c >= 0x7f) && c != '\n' && c != '\t' {
			return i
		}
	}
	return len(text)
}

// scan is one pass over a text.
type scan struct {
	text string

	out     []byte
	copied  int // how much of text is in out, or was replaced
	changed bool

	// What was kept before the place of the scan decides whether a character belongs there.
	base  rune // the last that is neither a mark nor invisible
	last  rune
	marks int // combining marks since base

	fromRight bool // the last letter of the line runs from right to left
	letters   int  // characters beyond ASCII that are neither marks nor invisible
	styled    rune // the last symbol with a style, that style, and how often the symbol came since
	style     rune
	since     int

	accounts [kinds]account
	excess   bool // there was one too many of a kind, see restart
}

// replace puts instead in the place of size bytes.
func (s *scan) replace(at, size int, instead string) {
	s.changed = true
	s.out = append(append(s.out, s.text[s.copied:at]...), instead...)
	s.copied = at + size
	if instead != "" {
		s.base, _ = utf8.DecodeRuneInString(instead)
		s.last, s.marks = s.base, 0
		s.ran(s.base)
	}
}

func (s *scan) result() (string, bool) {
	if !s.changed {
		return s.text, false
	}
	return string(append(s.out, s.text[s.copied:]...)), true
}

// judge says how many bytes belong together at a place, whether they stay, and what stands there if they do not.
func (s *scan) judge(at int) (size int, keep bool, instead string) {
	r, size := utf8.DecodeRuneInString(s.text[at:])
	switch {
	case r == utf8.RuneError && size == 1:
		return invalid(s.text[at:]), false, string(utf8.RuneError)
	case r == '\r' && strings.HasPrefix(s.text[at+1:], "\n"):
		return size, true, ""
	case r == '\r', r == '\v', r == '\f', r == nextLine:
		return size, false, "\n"
	case r == escape, 0x80 <= r && r <= 0x9f:
		return sequence(s.text[at:]), false, ""
	case r < ' ', r == 0x7f:
		return size, false, ""
	case r == blackFlag:
		size += flagTags(s.text[at+size:])
	}
	return size, s.keeps(r, s.text[at+size:]), ""
}

// keeps reports whether r stays before rest, and if so takes note of it.
func (s *scan) keeps(r rune, rest string) bool {
	switch {
	case isCommon(r):
		s.base, s.last, s.marks = r, r, 0
		s.letters++
		if s.fromRight {
			s.ran(r)
		}
		return true
	case isInvisible(r):
		if !s.belongs(r, rest) {
			return false
		}
	case unicode.In(r, unicode.Mn, unicode.Me):
		if s.marks == maxMarks {
			return false
		}
		s.marks++
	default:
		s.base, s.marks = r, 0
		s.letters++
		s.ran(r)
		if r == s.styled {
			s.since++
		}
	}
	s.last = r
	return true
}

// invalid returns the length of the run of invalid bytes with which text begins.
func invalid(text string) int {
	n := 0
	for n < len(text) {
		if r, size := utf8.DecodeRuneInString(text[n:]); r != utf8.RuneError || size != 1 {
			break
		}
		n++
	}
	return n
}
