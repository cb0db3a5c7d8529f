package legible

import (
	"unicode"
	"unicode/utf8"
)

// farthest is how many characters ahead a rule looks, so that a text of any kind is read in linear time.
const farthest = 64

// joins reports whether the letters of the script of r join, so that writers have to say where they do and do not.
func joins(r rune) bool {
	return r >= 0x600 && unicode.In(r, unicode.Arabic, unicode.Syriac, unicode.Mandaic, unicode.Nko, unicode.Mongolian, unicode.Phags_Pa,
		unicode.Adlam, unicode.Hanifi_Rohingya, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya,
		unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Tibetan, unicode.Myanmar,
		unicode.Khmer, unicode.Balinese, unicode.Javanese, unicode.Sundanese, unicode.Newa, unicode.Grantha, unicode.Tirhuta,
		unicode.Chakma, unicode.Meetei_Mayek, unicode.Kaithi)
}

// writtenWithoutSpaces reports whether r is of a script whose words only a zero-width space tells apart.
func writtenWithoutSpaces(r rune) bool {
	return r >= 0xe00 && unicode.In(r, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan, unicode.Tai_Le,
		unicode.New_Tai_Lue, unicode.Tai_Tham, unicode.Balinese, unicode.Javanese)
}

// scriptOf returns the script whose layout the format control or invisible mark r is for, nil if r is none. Musical notes have
// none of their own; they are symbols.
func scriptOf(r rune) *unicode.RangeTable {
	switch {
	case r == 0x2d7f: // consonant joiner
		return unicode.Tifinagh
	case r == 0x1107f: // number joiner
		return unicode.Brahmi
	case 0x13430 <= r && r <= 0x1343f:
		return unicode.Egyptian_Hieroglyphs
	case r == 0x16fe4: // filler
		return unicode.Khitan_Small_Script
	case r == 0x1bc9d, 0x1bca0 <= r && r <= 0x1bca3:
		return unicode.Duployan
	case 0x1d173 <= r && r <= 0x1d17a: // beams, ties, slurs and phrases
		return unicode.So
	default:
		return nil
	}
}

// laysOut reports whether the control r of a script stands after or before something of that script, and not in a row.
func (s *scan) laysOut(r, next rune) bool {
	return !isInvisible(s.last) && (isOf(r, s.base) || isOf(r, next))
}

// isOf reports whether c is a letter, or a note, of the script of the control r.
func isOf(r, c rune) bool {
	if isInvisible(c) || r&^0xff == 0x1d100 && c&^0xff != 0x1d100 {
		return false
	}
	return unicode.Is(scriptOf(r), c) && !unicode.In(c, unicode.Mn, unicode.Me)
}

// isNumberSign reports whether r is a format control that can be seen: a sign over or under the digits or letters after it.
func isNumberSign(r rune) bool {
	return 0x600 <= r && r <= 0x605 || r == 0x6dd || r == 0x890 || r == 0x891 || r == 0x8e2 || r == 0x110bd || r == 0x110cd
}

// counts reports whether the number sign r has something to enclose, or follows a word of its script.
func (s *scan) counts(r, next rune) bool {
	if isNumberSign(s.last) {
		return false
	}
	if r > 0xffff {
		return isKaithi(next) || s.onLetter() && isKaithi(s.base)
	}
	return isArabic(next) || s.onLetter() && isArabic(s.base)
}

func isArabic(r rune) bool {
	return 0x600 <= r && r <= 0x8ff && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// isKaithi includes the digits of Devanagari, which Kaithi is written with.
func isKaithi(r rune) bool {
	return 0x11083 <= r && r <= 0x110af || 0x966 <= r && r <= 0x96f
}

func isBraille(r rune) bool { return 0x2800 <= r && r <= 0x28ff }

// leadsToBraille reports whether rest, behind a blank of Braille, has more blanks and then a pattern with dots.
func leadsToBraille(rest string) bool {
	for range farthest {
		r, size := utf8.DecodeRuneInString(rest)
		if r != brailleBlank {
			return isBraille(r)
		}
		rest = rest[size:]
	}
	return false
}
