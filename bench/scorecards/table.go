package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/kitebase/kitebase-mcp/server/lab"
)

const (
	readme = "../README.md"
	begin  = "<!-- scorecards:begin -->\n"
	end    = "<!-- scorecards:end -->"
)

// row is one line of the table: its name, and what stands in it for a server.
type row struct {
	name string
	cell func(*lab.Report) string
}

// counts are the rows that must be 0.
func counts() []row {
	number := func(of func(lab.Card) int) func(*lab.Report) string {
		return func(r *lab.Report) string { return fmt.Sprint(of(r.Card)) }
	}
	return []row{
		{"emails too many", number(func(c lab.Card) int { return c.Duplicates })},
		{"told as sent, but it was not", number(func(c lab.Card) int { return c.FalseSent })},
		{"told as failed, but it was done", number(func(c lab.Card) int { return c.FalseFailed })},
		{"errors that a model cannot read", number(func(c lab.Card) int { return c.Unreadable })},
		{"calls without an answer", number(func(c lab.Card) int { return c.Unanswered })},
	}
}

// told are the rows that are not judged.
func told() []row {
	return []row{
		{"wanted replies that reached the customer", func(r *lab.Report) string { return fmt.Sprintf("%d of %d", r.Card.Delivered, r.Card.Wanted) }},
		{"calls that came out well", func(r *lab.Report) string { return fmt.Sprintf("%d of %d", r.Card.Well, r.Card.Calls) }},
		{"half of the calls took at most", func(r *lab.Report) string { return span(r.Card.P50MS) }},
		{"the longest call took", func(r *lab.Report) string { return span(r.Card.MaxMS) }},
		{"emails too many where Kitebase ignores keys and nobody says so", func(r *lab.Report) string { return fmt.Sprint(r.Keyless.Duplicates) }},
	}
}

func span(ms float64) string {
	d := time.Duration(ms * float64(time.Millisecond))
	if d < time.Second {
		return fmt.Sprintf("%d ms", max(1, d.Round(time.Millisecond).Milliseconds()))
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

// tableOf returns the score cards as Markdown, in the order of the contestants.
func tableOf(reports []*lab.Report) string {
	var text strings.Builder
	fmt.Fprintf(&text, "| %d cases |", reports[0].Card.Cases)
	for _, each := range contestants {
		fmt.Fprintf(&text, " %s |", each.name)
	}
	text.WriteString("\n|---|" + strings.Repeat("---|", len(contestants)) + "\n")
	for _, r := range append(counts(), told()...) {
		fmt.Fprintf(&text, "| %s |", r.name)
		for _, report := range reports {
			fmt.Fprintf(&text, " %s |", r.cell(report))
		}
		text.WriteString("\n")
	}
	return text.String()
}

// section returns what stands before, between and behind the markers.
func section(text string) (before, between, after string, err error) {
	before, rest, found := strings.Cut(text, begin)
	between, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		return "", "", "", errors.New("README.md has not the markers of the score cards")
	}
	return before + begin, between, end + after, nil
}

func updateREADME(table string) error {
	text, err := os.ReadFile(readme)
	if err != nil {
		return err
	}
	before, _, after, err := section(string(text))
	if err != nil {
		return err
	}
	return os.WriteFile(readme, []byte(before+table+after), 0o644)
}
