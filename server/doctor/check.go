package doctor

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// Status is how a check came out.
type Status string

// The ways in which a check can come out.
const (
	OK      Status = "ok"
	Warning Status = "warning" // it works, but somebody should know
	Failed  Status = "failed"  // it will not work
	Skipped Status = "skipped" // there was nothing to look at
)

// Check is one thing that was looked at.
type Check struct {
	Name   string `json:"name"`
	Status Status `json:"status"`
	// Found is what is the case, in whole sentences.
	Found string `json:"found"`
	// Advice is what to do about it; "" if nothing is to be done.
	Advice string `json:"advice"`
}

// label is for people, who should see at a glance what is wrong.
func (s Status) label() string {
	switch s {
	case OK:
		return "ok"
	case Warning:
		return "warn"
	case Skipped:
		return "skip"
	default:
		return "FAIL"
	}
}

// String returns the check as a line for people, the advice on a line of its own below.
func (c Check) String() string {
	text := fmt.Sprintf("%-5s %-10s %s\n", c.Status.label(), c.Name, c.Found)
	if c.Advice != "" {
		text += strings.Repeat(" ", 17) + c.Advice + "\n"
	}
	return text
}

// Report is all checks together. The zero value is empty; it is not safe for concurrent use.
type Report struct {
	checks []Check
}

// Add appends a check.
func (r *Report) Add(check Check) { r.checks = append(r.checks, check) }

// Failed returns how many checks failed.
func (r *Report) Failed() int { return r.count(Failed) }

// Summary returns one line with the numbers.
func (r *Report) Summary() string {
	verdict := "Nothing has to be mended"
	if r.Failed() > 0 {
		verdict = "Mend what is marked FAIL, then run this again"
	}
	return fmt.Sprintf("%s: %d ok, %d warning(s), %d failed, %d skipped.",
		verdict, r.count(OK), r.count(Warning), r.count(Failed), r.count(Skipped))
}

func (r *Report) count(status Status) int {
	n := 0
	for _, check := range r.checks {
		if check.Status == status {
			n++
		}
	}
	return n
}

// WriteJSON writes one document: {"ok": …, "checks": [{"name", "status", "found", "advice"}]}, where ok means that none failed.
func (r *Report) WriteJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(struct {
		OK     bool    `json:"ok"`
		Checks []Check `json:"checks"`
	}{r.Failed() == 0, append([]Check{}, r.checks...)})
}
