package delegate

import (
	"errors"
	"slices"
	"strings"
)

// Finding is what a sub-loop found out.
type Finding struct {
	Summary string `json:"summary"`
	// Sources are the ids of what the summary rests on: articles, tickets.
	Sources []string `json:"sources"`
}

// ErrBadResult is what the error of a [SubLoop] wraps if the sub-loop came to its end with a result that is of no use. A
// sub-loop need not look for empty and uncited results itself.
var ErrBadResult = errors.New("a bad result")

// badResult says what is wrong with a result, as a noun phrase that a model may read.
type badResult string

func (b badResult) Error() string        { return "bad result: " + string(b) }
func (b badResult) Reason() string       { return string(b) }
func (b badResult) Is(target error) bool { return target == ErrBadResult }

// check returns an error for a finding that nobody could act upon. A claim without a source is worth no more than a
// guess: the parent would pass it on to a customer as a fact.
func (f Finding) check() error {
	if strings.TrimSpace(f.Summary) == "" {
		return badResult("an empty result")
	}
	blank := func(source string) bool { return strings.TrimSpace(source) == "" }
	if len(f.Sources) == 0 || slices.ContainsFunc(f.Sources, blank) {
		return badResult("no source named")
	}
	return nil
}
