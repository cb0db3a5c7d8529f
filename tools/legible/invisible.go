package legible

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The characters that are looked at one by one.
const (
	nextLine           = '\u0085'
	graphemeJoiner     = '\u034f'
	arabicMark         = '\u061c'
	zeroWidthSpace     = '\u200b'
	zeroWidthSplitter  = '\u200c' // ZERO WIDTH NON-JOINER
	zeroWidthJoiner    = '\u200d'
	leftToRightMark    = '\u200e'
	rightToLeftMark    = '\u200f'
	keycap             = '\u20e3'
	textStyle          = '\ufe0e'
	emojiStyle         = '\ufe0f'
	firstVariant       = '\U000e0100' // of a Han character
	lastVariant        = '\U000e011f' // which has up to 32; Unicode has room for 240, a byte of a hidden message each
	brailleBlank       = '\u2800'
	syriacAbbreviation = '\u070f'
	nullNotehead       = '\U0001d159'
	blackFlag          = '\U0001f3f4'
)

// isCommon reports, for the letters of the most frequent scripts, that they are neither marks nor invisible.
func isCommon(r rune) bool {
	return 0xa0 <= r && r < 0x300 && r != 0xad ||
		0x370 <= r && r <= 0x482 || // Greek, Cyrillic
		0x3041 <= r && r <= 0x3096 || 0x30a1 <= r && r <= 0x30fa || // kana
		0x4e00 <= r && r <= 0x9fff || // Han
		0xac00 <= r && r <= 0xd7a3 // Hangul
}

// isInvisible reports whether r shows nothing by itself, or nothing that people agree on: the Default_Ignorable_Code_Point
// of Unicode, format controls (Cf), the blank of Braille and others that show nothing, private use and noncharacters.
func isInvisible(r rune) bool {
	switch {
	case r < 0x2000:
		return r == 0xad || r == graphemeJoiner || isNumberSign(r) || r == arabicMark || r == syriacAbbreviation ||
			r == 0x115f || r == 0x1160 || r == 0x17b4 || r == 0x17b5 || 0x180b <= r && r <= 0x180f
	case r < 0xe000:
		return 0x200b <= r && r <= 0x200f || 0x202a <= r && r <= 0x202e || 0x2060 <= r && r <= 0x206f ||
			r == brailleBlank || r == 0x2d7f || r == 0x3164
	case r < 0x10000:
		return r <= 0xf8ff || // private use
			0xfdd0 <= r && r <= 0xfdef || 0xfe00 <= r && r <= 0xfe0f || r == 0xfeff || r == 0xffa0 ||
			0xfff0 <= r && r <= 0xfffb || r >= 0xfffe
	default:
		return isNumberSign(r) || scriptOf(r) != nil || r == nullNotehead || 0xe0000 <= r && r <= 0xe0fff ||
			r >= 0xf0000 || // private use
			r&0xfffe == 0xfffe
	}
}

// belongs reports whether the invisible r is part of what is written here, and the text has not had too many like it.
func (s *scan) belongs(r rune, rest string) bool {
	next, _ := utf8.DecodeRuneInString(rest)
	switch r {
	case zeroWidthJoiner:
		if s.joinsEmoji(next) {
			return s.spend(emojiJoiners)
		}
		return s.joinsLetters(next) && s.spend(joiners)
	case zeroWidthSplitter:
		return s.joinsLetters(next) && s.spend(joiners)
	case zeroWidthSpace:
		return s.onLetter() && writtenWithoutSpaces(s.base) && s.spend(wordBreaks)
	case graphemeJoiner:
		return unicode.Is(unicode.Hebrew, s.base) && s.onLetter() && s.last != s.base && s.spend(joiners)
	case leftToRightMark, rightToLeftMark, arabicMark:
		return s.directs(rest) && s.spend(directionMarks)
	case brailleBlank:
		return isBraille(s.last) || leadsToBraille(rest)
	case textStyle, emojiStyle:
		return (isSymbol(s.last) || isKeycap(s.last) && next == keycap) && s.styles(r)
	}
	switch {
	case isNumberSign(r):
		return s.counts(r, next)
	case r == syriacAbbreviation:
		return unicode.Is(unicode.Syriac, next) && unicode.IsLetter(next) && !isInvisible(s.last) && s.spend(scriptControls)
	case scriptOf(r) != nil:
		return s.laysOut(r, next) && s.spend(scriptControls)
	default:
		return s.varies(r)
	}
}

// onLetter reports whether a letter, or a mark on one, stands before.
func (s *scan) onLetter() bool {
	return s.last == s.base || !isInvisible(s.last) && unicode.Is(unicode.Mn, s.last)
}

// joinsEmoji reports whether an emoji stands before and after, as in 👩‍🚀.
func (s *scan) joinsEmoji(next rune) bool {
	before := isSymbol(s.last) || s.last == emojiStyle || isSkinTone(s.last)
	return before && isSymbol(next)
}

// joinsLetters reports whether letters stand here that may or may not join. After a Latin letter Persian splits its own.
func (s *scan) joinsLetters(next rune) bool {
	return s.onLetter() && (joins(s.base) || unicode.IsLetter(next) && joins(next))
}

// styles reports whether the style r of a symbol may stay. One that repeats what was said of the symbol when it last came
// tells nothing, so that a row of ❤️ may be of any length.
func (s *scan) styles(r rune) bool {
	again := s.styled == s.last && s.style == r && s.since == 1
	if !again && !s.spend(emojiStyles) {
		return false
	}
	s.styled, s.style, s.since = s.last, r, 0
	return true
}

// varies reports whether r is a variation selector of what stands before.
func (s *scan) varies(r rune) bool {
	switch {
	case 0x180b <= r && r <= 0x180d, r == 0x180f:
		return unicode.Is(unicode.Mongolian, s.last) && s.spend(joiners)
	case r == 0xfe00:
		return (isOperator(s.last) || unicode.In(s.last, unicode.Myanmar, unicode.Phags_Pa)) && s.spend(variants)
	case firstVariant <= r && r <= lastVariant:
		return unicode.Is(unicode.Han, s.last) && s.spend(variants)
	}
	return false
}

// isSymbol reports whether r may be an emoji: a symbol outside of ASCII, or one of the emoji that are none.
func isSymbol(r rune) bool {
	return r > 0x7f && r != utf8.RuneError && !isInvisible(r) && unicode.In(r, unicode.So, unicode.Sm) || strings.ContainsRune("‼⁉ℹ〰", r)
}

// isOperator reports whether r is of the blocks whose mathematical signs have variants; + and < have none.
func isOperator(r rune) bool { return r >= 0x2200 && unicode.Is(unicode.Sm, r) }

func isKeycap(r rune) bool { return '0' <= r && r <= '9' || r == '#' || r == '*' }

func isSkinTone(r rune) bool { return 0x1f3fb <= r && r <= 0x1f3ff }

// flagTags returns the length of the tag characters that make a black flag one of a country without a code of its own.
func flagTags(rest string) int {
	for _, tags := range []string{
		"\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", // England
		"\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f", // Scotland
		"\U000e0067\U000e0062\U000e0077\U000e006c\U000e0073\U000e007f", // Wales
	} {
		if strings.HasPrefix(rest, tags) {
			return len(tags)
		}
	}
	return 0
}
