package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/kitebase/kitebase-mcp/client_example/agent"
)

// uncounted stands for the emails that only another help desk knows of.
const uncounted = -1

// outcome is how a scenario ended.
type outcome struct {
	scenario scenario
	report   agent.Report
	emails   int
	requests map[string]int // that reached the help desk, by operation
	took     time.Duration
}

// note is what a person must know of a run, in whole lines: also of one that succeeded, since nobody else would look after a
// change that is not confirmed.
func (o outcome) note() string {
	if !o.report.Succeeded() {
		return o.report.Handover() + "\n"
	}
	var lines strings.Builder
	for _, line := range o.report.Unconfirmed() {
		lines.WriteString(line + "\n")
	}
	return lines.String()
}

// ending is the last line of a run.
func (o outcome) ending() string {
	if o.emails == uncounted {
		return fmt.Sprintf("%s after %d step(s)", o.verdict(), o.report.Steps)
	}
	return fmt.Sprintf("%s after %d step(s), %d email(s) sent", o.verdict(), o.report.Steps, o.emails)
}

func (o outcome) verdict() string {
	if o.report.Succeeded() {
		return fmt.Sprintf("DONE (%s)", o.report.Reason)
	}
	return fmt.Sprintf("FAILED (%s)", o.report.Reason)
}

// countedEmails is a dash where nobody could count.
func (o outcome) countedEmails() string {
	if o.emails == uncounted {
		return "-"
	}
	return strconv.Itoa(o.emails)
}
