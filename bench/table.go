package main

import (
	"fmt"
	"io"
	"strings"
)

// writeTable writes a table for each transport and one of the targets, as Markdown.
func (r *report) writeTable(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s; load average %s; %s.\n", r.Machine, r.Load, r.Settings)
	for _, transport := range []string{"stdio", "http"} {
		r.table(&b, transport)
	}
	if waits := r.sheet(noServer, "stdio"); waits != nil {
		fmt.Fprintf(&b, "\n%s, with %s: %s %s.\n", slowRate.name, noServer, spreadOf(waits.Rounds[slowRate.name]).text(number), slowRate.unit)
	}
	if !r.unjudged {
		b.WriteString("\n| target | limit | reached | |\n|---|---|---|---|\n")
	}
	for _, v := range r.verdicts() {
		side, word := "≤", "missed"
		if v.AtLeast {
			side = "≥"
		}
		if v.Met {
			word = "met"
		}
		versus := ""
		if v.Versus != "" {
			versus = ", divided by " + v.Versus
		}
		fmt.Fprintf(&b, "| %s: %s%s | %s %s | %s | %s |\n", v.Transport, v.Figure, versus, side, number(v.Limit), v.Reached.text(number), word)
	}
	for _, reason := range r.Skipped {
		fmt.Fprintf(&b, "\nSkipped: %s.\n", reason)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// table writes what the first contestant reached, and of the others the ratios to that.
func (r *report) table(b *strings.Builder, transport string) {
	var sheets []*sheet
	for _, name := range []string{bare, ours, official, typescript} {
		if one := r.sheet(name, transport); one != nil {
			sheets = append(sheets, one)
		}
	}
	if len(sheets) == 0 {
		return
	}
	fmt.Fprintf(b, "\n| %s |", transport)
	for _, one := range sheets {
		fmt.Fprintf(b, " %s |", one.Name)
	}
	b.WriteString("\n|" + strings.Repeat("---|", 1+len(sheets)) + "\n")
	for _, f := range figures() {
		compared := sheets[0].Rounds[f.name]
		if len(compared) == 0 {
			continue
		}
		fmt.Fprintf(b, "| %s | %s %s |", f.name, spreadOf(compared).text(number), f.unit)
		for _, one := range sheets[1:] {
			values := one.Rounds[f.name]
			fmt.Fprintf(b, " × %s; %s |", spreadOf(ratios(values, compared)).text(number), number(spreadOf(values).Median))
		}
		b.WriteString("\n")
	}
}

// text is the median with the lowest and the highest behind it.
func (s spread) text(number func(float64) string) string {
	if s.Min == s.Max {
		return number(s.Median)
	}
	return fmt.Sprintf("%s (%s–%s)", number(s.Median), number(s.Min), number(s.Max))
}

// number has at least three digits, and a comma before the last three from 1,000 on; nothing here comes near a million.
func number(v float64) string {
	switch {
	case v >= 999.5:
		text := fmt.Sprintf("%.0f", v)
		return text[:len(text)-3] + "," + text[len(text)-3:]
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	default:
		return fmt.Sprintf("%.2f", v)
	}
}
