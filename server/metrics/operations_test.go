package metrics_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server/metrics"
	"github.com/kitebase/kitebase-mcp/server/resilience"
)

const operations = "../../docs/operations/"

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(operations + name)
	require.NoError(t, err)
	return string(text)
}

// everything is a scrape in which nothing is left out.
func everything(t *testing.T) string {
	t.Helper()
	m := metrics.New(metrics.Config{Tools: []string{"get_ticket"}, Read: func() metrics.Reading {
		return metrics.Reading{
			Circuits: map[string]resilience.CircuitState{"get_ticket": resilience.Closed},
			Budget:   new(metrics.Budget),
			Ledger:   &metrics.Ledger{Unknown: &metrics.Unknown{OldestAge: time.Second}},
		}
	}})
	got := httptest.NewRecorder()
	m.Handler().ServeHTTP(got, httptest.NewRequest("GET", "/metrics", nil))
	return got.Body.String()
}

// TestTableOfMetrics holds the table in metrics.md to the code. Rewrite it with -update.
func TestTableOfMetrics(t *testing.T) {
	const begin, end = "<!-- metrics:begin -->\n", "<!-- metrics:end -->"
	text := read(t, "metrics.md")
	before, rest, found := strings.Cut(text, begin)
	require.True(t, found)
	have, after, found := strings.Cut(rest, end)
	require.True(t, found)
	want := table(everything(t))
	if *update {
		require.NoError(t, os.WriteFile(operations+"metrics.md", []byte(before+begin+want+end+after), 0o644))
		return
	}
	require.Equal(t, want, have, "rewrite the table with: go test ./server/metrics -update")
}

var (
	helpLine = regexp.MustCompile(`(?m)^# HELP (kitebase_mcp_\S+) (.*)\n# TYPE \S+ (\S+)$`)
	label    = regexp.MustCompile(`([a-z_]+)="`)
)

func table(scraped string) string {
	var text strings.Builder
	text.WriteString("| metric | type | labels | meaning |\n|---|---|---|---|\n")
	for _, found := range helpLine.FindAllStringSubmatch(scraped, -1) {
		name, help, kind := found[1], found[2], found[3]
		sample := regexp.MustCompile(`(?m)^` + name + `(?:_count)?(\{.*\})? `).FindStringSubmatch(scraped)
		var labels []string
		for _, each := range label.FindAllStringSubmatch(sample[1], -1) {
			labels = append(labels, "`"+each[1]+"`")
		}
		fmt.Fprintf(&text, "| `%s` | %s | %s | %s |\n", name, kind, strings.Join(labels, ", "), help)
	}
	return text.String()
}

// expressions are those of the dashboard and of the alerts, by where they stand.
func expressions(t *testing.T) map[string]string {
	t.Helper()
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
		Templating struct{ List []struct{ Definition string } }
	}
	require.NoError(t, json.Unmarshal([]byte(read(t, "dashboard.json")), &dashboard))
	all := map[string]string{"alerts": read(t, "alerts.yml")}
	for _, panel := range dashboard.Panels {
		for i, target := range panel.Targets {
			all[fmt.Sprint("panel ", panel.Title, i)] = target.Expr
		}
	}
	for i, variable := range dashboard.Templating.List {
		all[fmt.Sprint("variable ", i)] = variable.Definition
	}
	return all
}

// TestOnlyMetricsThatExist: a panel of a metric that was renamed stays empty, and its alert silent.
func TestOnlyMetricsThatExist(t *testing.T) {
	var known []string
	for _, found := range regexp.MustCompile(`(?m)^([a-z_]+)[{ ]`).FindAllStringSubmatch(everything(t), -1) {
		known = append(known, found[1])
	}
	used := make(map[string]bool)
	for where, expression := range expressions(t) {
		for _, name := range regexp.MustCompile(`\b(?:kitebase_mcp|process|go)_[a-z_]+`).FindAllString(expression, -1) {
			if name == "go_version" { // a label
				continue
			}
			require.Contains(t, known, name, where)
			used[name] = true
		}
	}
	for _, name := range known {
		name = strings.TrimSuffix(strings.TrimSuffix(name, "_sum"), "_count")
		if strings.HasPrefix(name, "kitebase_mcp_") && name != "kitebase_mcp_call_duration_seconds" {
			require.True(t, used[name], "%s is on no panel", name)
		}
	}
}

// TestAlertsAreExplained: whoever is woken by one finds out what it means and what to do.
func TestAlertsAreExplained(t *testing.T) {
	rules := regexp.MustCompile(`(?m)^ *- alert: `).Split(read(t, "alerts.yml"), -1)[1:]
	page := read(t, "metrics.md")
	var names []string
	for _, rule := range rules {
		name, _, _ := strings.Cut(rule, "\n")
		names = append(names, name)
		require.Regexp(t, `severity: (critical|warning|info)\n`, rule, name)
		require.Regexp(t, `summary: \S`, rule, name)
		require.Regexp(t, `description: >-\n +\S`, rule, name)
		require.Contains(t, page, "\n### "+name+"\n")
	}
	slices.Sort(names)
	require.Equal(t, []string{
		"KitebaseCircuitOpen", "KitebaseDuplicatesSuppressed", "KitebaseFallbackRate", "KitebaseReplyUnknown", "KitebaseRetryBudgetExhausted",
	}, names)
}
