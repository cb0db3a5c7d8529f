package legible

// Where an invisible character belongs, whether it stands there or not still tells something. So a text has so many of a
// kind and no more: with one too many, all of that kind go, because what was spelled with them must not be left in part.

// kind is one of the kinds of invisible characters that are counted together.
type kind uint8

const (
	joiners        kind = iota // ZWJ, ZWNJ and CGJ in letters, and the selectors of Mongolian, which do the like
	wordBreaks                 // zero-width spaces
	emojiJoiners               // ZWJ between emoji
	emojiStyles                // a style that is not the one the same symbol had before
	variants                   // other variation selectors
	directionMarks             // LRM, RLM, ALM
	scriptControls             // format controls of one script
	kinds
)

// allowance returns how many of a kind a text has at first, and after how many further letters beyond ASCII it has another
// one; 0 is never. People need fewer: Persian has a ZWNJ in 20 letters, and Khmer a zero-width space in 5.
func (k kind) allowance() (first, every int) {
	switch k {
	case joiners:
		return 8, 4
	case wordBreaks:
		return 8, 3
	case emojiJoiners:
		return 48, 0
	case emojiStyles:
		return 32, 0
	case directionMarks:
		return 16, 0
	default:
		return 8, 0
	}
}

// account is what of a kind a text has had: a bucket that letters drain.
type account struct {
	spent int // in letters, or one each if the kind is for the whole text
	as    int // of s.letters
	none  bool
}

// spend reports whether one more of a kind may stay. If there were too many it stops the scan, to be done without the kind.
func (s *scan) spend(k kind) bool {
	a := &s.accounts[k]
	if a.none {
		return false
	}
	first, every := k.allowance()
	cost := max(every, 1)
	if every > 0 {
		a.spent = max(0, a.spent-(s.letters-a.as))
		a.as = s.letters
	}
	if a.spent += cost; a.spent > first*cost {
		a.none, s.excess = true, true
		return false
	}
	return true
}

// restart goes back to the beginning of the text, without the kinds of which it had too many.
func (s *scan) restart() {
	again := scan{text: s.text, out: s.out[:0]}
	for k := range s.accounts {
		again.accounts[k].none = s.accounts[k].none
	}
	*s = again
}
