package legible

import (
	"strings"
	"unicode/utf8"
)

// The libraries that strip sequences (charmbracelet/x/ansi …) work for terminals: one without an end swallows the rest of the
// text, which would hide it from the model, C1 in UTF-8 stays, and clean text costs memory.

// What begins a control function of ECMA-48, in the form of one character; ESC and a character in 0x40 to 0x5F is the other.
const (
	escape = '\x1b'
	dcs    = '\u0090' // device control string
	sos    = '\u0098' // start of string
	csi    = '\u009b' // control sequence introducer
	osc    = '\u009d' // operating system command, such as a link or the title of a window
	pm     = '\u009e' // privacy message
	apc    = '\u009f' // application program command
)

// sequence returns the length of the control function with which text begins; its first character is ESC or one of C1. Of
// one that has no end it is the length of what introduces it: a terminal would swallow what follows, and so could a text
// hide what follows from a model.
func sequence(text string) int {
	begin, size := utf8.DecodeRuneInString(text)
	if begin == escape {
		begin, size = escaped(text)
	}
	switch begin {
	case csi:
		return size + parameters(text[size:])
	case dcs, sos, osc, pm, apc:
		return size + controlString(text[size:])
	default:
		return size
	}
}

// escaped returns the function that ESC and what follows it stand for, and the length of both.
func escaped(text string) (function rune, size int) {
	switch rest := text[1:]; {
	case rest == "":
		return escape, 1
	case '@' <= rest[0] && rest[0] <= '_':
		return rune(rest[0]) + 0x40, 2
	default: // a short one: intermediate characters, then a final one
		n := span(rest, ' ', '/')
		if n < len(rest) && '0' <= rest[n] && rest[n] <= '~' {
			return escape, n + 2
		}
		return escape, 1
	}
}

// parameters returns the length of what follows a CSI: parameters, intermediate characters and a final one; 0 if it has none.
func parameters(text string) int {
	n := span(text, '0', '?')
	n += span(text[n:], ' ', '/')
	if n < len(text) && '@' <= text[n] && text[n] <= '~' {
		return n + 1
	}
	return 0
}

// controlString returns the length of what follows the introducer of a string, with its terminator: ST, or BEL as xterm has
// it. It is 0 if another control character comes first, a line feed for example, or none comes.
func controlString(text string) int {
	for at, r := range text {
		switch rest := text[at:]; {
		case r == '\a':
			return at + 1
		case r == '\u009c', strings.HasPrefix(rest, "\x1b\\"):
			return at + 2
		case r < ' ', 0x7f <= r && r <= 0x9f:
			return 0
		}
	}
	return 0
}

// span returns how many bytes from low to high text begins with.
func span(text string, low, high byte) int {
	n := 0
	for n < len(text) && low <= text[n] && text[n] <= high {
		n++
	}
	return n
}
