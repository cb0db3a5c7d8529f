package lab

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// WriteTable writes the card for a terminal: a line for each case, what was found, and the totals.
func (r *Report) WriteTable(w io.Writer) error {
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "case\tduplicates\tfalse sent\tfalse failed\tunreadable\tunanswered\tstray\twell\tp50\tmax")
	for _, result := range r.Cases {
		if result.Skipped != "" {
			fmt.Fprintf(table, "%s\tskipped\t\t\t\t\t\t\t\t\n", result.Name)
			continue
		}
		row(table, result.Name, result.Card())
	}
	row(table, "total", r.Card)
	if r.Keyless.Cases > 0 {
		row(table, "keyless, not counted", r.Keyless)
	}
	_ = table.Flush() // a strings.Builder takes everything
	lines := strings.TrimRight(text.String(), "\n ")
	text.Reset()
	for line := range strings.Lines(lines) {
		text.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	text.WriteString(r.found())
	text.WriteString(r.Verdict() + "\n")
	_, err := io.WriteString(w, visible(text.String()))
	return err
}

func row(w io.Writer, name string, card Card) {
	fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%d/%d\t%s\t%s\n", name, dot(card.Duplicates), dot(card.FalseSent), dot(card.FalseFailed),
		dot(card.Unreadable), dot(card.Unanswered), dot(card.StrayOutput), card.Well, card.Calls, span(card.P50MS), span(card.MaxMS))
}

// dot keeps the eye on what is not zero.
func dot(n int) string {
	if n == 0 {
		return "·"
	}
	return fmt.Sprint(n)
}

// span writes milliseconds for people.
func span(ms float64) string {
	d := time.Duration(ms * float64(time.Millisecond))
	if d >= time.Second {
		return d.Round(10 * time.Millisecond).String()
	}
	return d.Round(100 * time.Microsecond).String()
}

// found returns the findings as lines.
func (r *Report) found() string {
	var text strings.Builder
	for _, result := range r.Cases {
		for _, finding := range result.Findings {
			where := result.Name
			if finding.Call > 0 {
				where = fmt.Sprintf("%s, call %d", result.Name, finding.Call)
			}
			fmt.Fprintf(&text, "\n%s: %s: %s", where, finding.Kind.words(), finding.Says)
			if !result.Counted {
				text.WriteString(" (not counted)")
			}
		}
		if result.Skipped != "" {
			fmt.Fprintf(&text, "\n%s: skipped, %s", result.Name, result.Skipped)
		}
		if len(result.LastWords) > 0 {
			fmt.Fprintf(&text, "\n%s: %s", result.Name, strings.Join(result.LastWords, "\n    "))
		}
	}
	if text.Len() == 0 {
		return "\n"
	}
	return text.String() + "\n\n"
}

func (k Kind) words() string { return strings.ReplaceAll(string(k), "_", " ") }

// Verdict returns one line with the totals. A card is clean only if a case that counts was run.
func (r *Report) Verdict() string {
	c := r.Card
	head := "Clean"
	switch n := c.Findings(); {
	case n > 0:
		head = count(n, "finding")
	case c.Cases == c.Skipped:
		head = "Nothing was judged"
	}
	stray := ""
	if c.StrayOutput > 0 {
		stray = ", stray output in " + count(c.StrayOutput, "case")
	}
	text := fmt.Sprintf("%s in %s: %s, %d false \"sent\", %d false \"failed\", %s, %s%s; %d of %d calls came out well, %d of %d wanted replies reached the customer.",
		head, count(c.Cases-c.Skipped, "case"), count(c.Duplicates, "duplicate"), c.FalseSent, c.FalseFailed, count(c.Unreadable, "unreadable error"),
		count(c.Unanswered, "unanswered call"), stray, c.Well, c.Calls, c.Delivered, c.Wanted)
	if skipped := c.Skipped + r.Keyless.Skipped; skipped > 0 {
		text += fmt.Sprintf(" Skipped, because tools are missing: %s.", count(skipped, "case"))
	}
	return text
}
