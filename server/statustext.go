package server

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/kitebase/kitebase-mcp/server/resilience"
)

// text is the status for people: a line for the whole, then one for each tool.
func (s status) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "State of Kitebase at %s, as this server sees it. Counts are of the last %d minutes.\n",
		clock(s.At), s.WindowSeconds/60)
	if s.RetriesPaused {
		b.WriteString("Retries are paused, because Kitebase is failing broadly.\n")
	}
	switch unknown := s.OpenUnknowns; {
	case unknown == nil:
		b.WriteString("Whether writes are unconfirmed is not known: the ledger was not needed yet, or could not be asked.\n")
	case *unknown == 0:
		b.WriteString("No write is unconfirmed.\n")
	default:
		fmt.Fprintf(&b, "Unconfirmed writes: %d. They may have happened; look at them with kitebase-mcp ledger list.\n", *unknown)
	}
	for _, tool := range s.Tools {
		fmt.Fprintf(&b, "%s: %s\n", tool.Tool, strings.Join(append([]string{tool.stands()}, tool.went()...), " "))
	}
	return b.String()
}

// stands says whether calls are let through.
func (t toolStatus) stands() string {
	since := clock(t.Since)
	switch t.Circuit {
	case resilience.Open:
		text := "refused since " + since + ", because it kept failing. The first call after " + clock(*t.NextProbe) + " is let through as a probe."
		if t.Hidden {
			text += " Hidden from the list of tools until then."
		}
		return text
	case resilience.HalfOpen:
		return "on trial since " + since + ". The next call shows whether Kitebase answers again."
	default:
		return "let through since " + since + "."
	}
}

// went says how the calls went, in sentences.
func (t toolStatus) went() []string {
	if t.Calls == 0 {
		return []string{"No calls."}
	}
	said := fmt.Sprintf("Calls %d, attempts %d", t.Calls, t.Attempts)
	if t.SuccessRate != nil {
		said += fmt.Sprintf(", success rate %d%%", int(math.Floor(*t.SuccessRate*100))) // never 100% with a failure
	}
	all := []string{said + "."}
	if t.Failures > 0 {
		all = append(all, "Failed: "+t.failures()+".")
	}
	if t.Copies > 0 {
		all = append(all, fmt.Sprintf("Answered from copies: %d.", t.Copies))
	}
	if r := t.Repeats; r != (repeats{}) {
		all = append(all, fmt.Sprintf("Repeats recognised: by our retry %d, by the host %d, by the model %d, by unknown %d.",
			r.Retry, r.Host, r.Model, r.Unknown))
	}
	return all
}

// failures lists the kinds, the most frequent first.
func (t toolStatus) failures() string {
	var kinds []resilience.Kind
	for kind := range t.FailuresByKind {
		kinds = append(kinds, kind)
	}
	slices.SortFunc(kinds, func(a, b resilience.Kind) int {
		if n, m := t.FailuresByKind[a], t.FailuresByKind[b]; n != m {
			return m - n
		}
		return strings.Compare(string(a), string(b))
	})
	var parts []string
	for _, kind := range kinds {
		parts = append(parts, fmt.Sprintf("%s %d", kind, t.FailuresByKind[kind]))
	}
	return strings.Join(parts, ", ")
}

func clock(at time.Time) string { return at.Format("2006-01-02 15:04:05 UTC") }
