package main

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// table returns how the scenarios ended, one line each.
func table(outcomes []outcome) string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "scenario\tending\tsteps\temails\tseconds")
	for _, o := range outcomes {
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%.1f\n", o.scenario.name, o.verdict(), o.report.Steps, o.countedEmails(), o.took.Seconds())
	}
	w.Flush()
	return text.String()
}
