package resilience_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/server/resilience"
)

// upstream answers a request by what is wrong with it at that time since the start, nil being nothing.
type upstream func(at time.Duration) error

// timeline lets a model read a ticket at the given times, with all layers and their defaults, and writes down what happened:
// calls in a row with the same ending are one line, with the words of the first of them, which stand below.
func timeline(t *testing.T, wrong upstream, at ...time.Duration) string {
	t.Helper()
	var lines strings.Builder
	synctest.Test(t, func(t *testing.T) {
		start, requests := time.Now(), 0
		policy := everything()
		policy.Fallback = nil
		call := guard(t, reads(func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			requests++
			if err := wrong(time.Since(start)); err != nil {
				return nil, err
			}
			return succeeds(ctx)
		}), policy)
		var current row
		var legend []string
		flush := func() {
			if current.calls > 0 {
				lines.WriteString(current.line(&legend))
			}
		}
		for _, when := range at {
			time.Sleep(when - time.Since(start))
			before := requests
			ending, words := outcome(call(t.Context()), when, start)
			if current.calls == 0 || ending != current.ending {
				flush()
				current = row{ending: ending, words: words, first: when}
			}
			current.calls, current.requests, current.last = current.calls+1, current.requests+requests-before, when
		}
		flush()
		if len(legend) > 0 {
			lines.WriteString("\n" + strings.Join(legend, "\n") + "\n")
		}
	})
	return lines.String()
}

// row is one line: calls in a row that ended alike.
type row struct {
	ending, words   string
	first, last     time.Duration
	calls, requests int
}

// line writes the row. What begins with Error is long: it goes to the legend, once, under a number.
func (r row) line(legend *[]string) string {
	words := r.words
	if strings.HasPrefix(words, "Error: ") {
		i := slices.IndexFunc(*legend, func(entry string) bool { return strings.HasSuffix(entry, ") "+words) })
		if i < 0 {
			i = len(*legend)
			*legend = append(*legend, fmt.Sprintf("(%d) %s", i+1, words))
		}
		words = fmt.Sprintf("(%d)", i+1)
	}
	return fmt.Sprintf("%s  %-8s %-11s %s\n", span(r.first, r.last), many(r.calls, "call"), many(r.requests, "request"), words)
}

// outcome returns what makes endings alike, and the words.
func outcome(result *mcp.CallToolResult, when time.Duration, start time.Time) (ending, words string) {
	if result.IsError {
		told := result.Meta.AdditionalFields[resilience.MetaError].(resilience.ErrorInfo)
		words = text(result)
		return fmt.Sprint(told.Kind, told.Attempts, strings.Contains(words, "not retried")), words
	}
	words = "answered"
	if took := time.Since(start) - when; took >= time.Second {
		words += fmt.Sprintf(" after %s", took.Truncate(time.Second))
	}
	return fmt.Sprint("answered", attempts(result)), words
}

func span(first, last time.Duration) string {
	clock := func(d time.Duration) string { return fmt.Sprintf("%02d:%02d", int(d.Minutes()), int(d.Seconds())%60) }
	if first == last {
		return clock(first) + "      "
	}
	return clock(first) + "-" + clock(last)
}

func many(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprint(n, " ", what)
}

func every(step, until time.Duration) (all []time.Duration) {
	for at := time.Duration(0); at <= until; at += step {
		all = append(all, at)
	}
	return all
}

// timelines are the worked examples of docs/resilience.md.
func timelines(t *testing.T) map[string]string {
	limited := func(wait time.Duration) error {
		return &resilience.Failure{What: resilience.RateLimited, Wait: wait, Effect: idempotency.NotDone}
	}
	once := false
	return map[string]string{
		"a blip": timeline(t, func(at time.Duration) error {
			if at >= 10*time.Second && !once {
				once = true
				return reset
			}
			return nil
		}, every(10*time.Second, 20*time.Second)...),
		"an outage of 5 minutes": timeline(t, func(at time.Duration) error {
			if at >= time.Minute && at < 6*time.Minute {
				return reset
			}
			return nil
		}, every(10*time.Second, 7*time.Minute)...),
		"a rate limit": timeline(t, func(at time.Duration) error {
			switch {
			case at >= 10*time.Second && at < 12*time.Second:
				return limited(2 * time.Second)
			case at >= time.Minute && at < 2*time.Minute:
				return limited(2*time.Minute - at)
			}
			return nil
		}, every(10*time.Second, 2*time.Minute)...),
	}
}
