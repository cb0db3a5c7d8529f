package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/kitebase/kitebase-mcp/client_example/agent"
)

// What depends on the time of day and on how busy the machine is.
var (
	clock   = regexp.MustCompile(`\b\d\d:\d\d(:\d\d)? UTC`)
	refusal = regexp.MustCompile(`possible in [0-9.]+s`)
)

// TestOutageScenarios runs each scenario with the real server as a child process. It must end as listed, with so many
// requests at the help desk, and what it prints is held to the golden file.
func TestOutageScenarios(t *testing.T) {
	path := filepath.Join("testdata", "outage.txtar")
	golden, err := txtar.ParseFile(path)
	require.NoError(t, err)
	want := map[string]string{}
	for _, file := range golden.Files {
		want[file.Name] = string(file.Data)
	}
	golden.Files = nil
	requests := map[string]map[string]int{
		// Two calls of two tries each, then one probe; the refused call does not get there.
		"outage": {"get_ticket": 1, "search_help": 2*2 + 1, "search_tickets": 1, "reply_to_customer": 1},
		// One that works and two tries of one that does not.
		"degraded":          {"get_ticket": 1 + 2, "search_help": 1 + 2, "reply_to_customer": 1},
		"loop-server-guard": {"get_ticket": 2},
		"loop-no-guard":     {"get_ticket": 8},
	}
	for _, s := range outageScenarios() {
		t.Run(s.name, func(t *testing.T) {
			s, _ := patient(s)
			text, o := driveOutage(t, s)
			text = refusal.ReplaceAllString(clock.ReplaceAllString(text, "TIME UTC"), "possible in SECONDS")
			golden.Files = append(golden.Files, txtar.File{Name: s.name, Data: []byte(text)})
			if !*update {
				require.Equal(t, want[s.name], text)
			}
			require.Equal(t, s.ending, o.ending())
			if s.name != "storm" { // where it is a matter of chance, and counted below
				require.Equal(t, requests[s.name], o.requests)
			}
		})
	}
	if *update && !t.Failed() {
		require.NoError(t, os.WriteFile(path, txtar.Format(golden), 0o644))
	}
}

func driveOutage(t *testing.T, s scenario) (string, outcome) {
	t.Helper()
	var stdout bytes.Buffer
	outcomes, err := testDriver(t, &stdout).driveAll(t.Context(), []scenario{s})
	require.NoError(t, err)
	return stdout.String(), outcomes[0]
}

// TestDegradedAnswers holds the whole text of what a transcript cuts: the copies say first what they are, and the answer to
// the reply reminds of it.
func TestDegradedAnswers(t *testing.T) {
	s, ok := findScenario("degraded")
	require.True(t, ok)
	s, _ = patient(s)
	_, o := driveOutage(t, s)
	said := o.report.Messages
	for _, n := range []int{6, 8} {
		require.Regexp(t, `^Kitebase is not answering; this copy is from \d\d:\d\d UTC, .+ ago\.\n\{`, said[n].Results[0].Text)
	}
	require.Regexp(t, `^This reply was written from a copy of the ticket from \d\d:\d\d UTC: read the ticket again when Kitebase answers\.\n\{`, said[10].Results[0].Text)
}

func storming(t *testing.T) scenario {
	t.Helper()
	s, ok := findScenario("storm")
	require.True(t, ok)
	return s
}

var tried = regexp.MustCompile(`failed after (\d+) (?:try|tries): `)

// TestStorm holds what the agents were told to what the help desk saw: each attempt that the server owns up to is a
// request, and beyond one for each call that was let through there are no more than the retry budget allows.
func TestStorm(t *testing.T) {
	s := storming(t)
	tools, desk := open(t, s.server...)
	require.NoError(t, breakDown(desk, s.faults))
	through, attempts := 0, 0
	one := agent.Job{Task: task, Model: script{}, Tools: tools}
	reports, err := crowd(t.Context(), one, agent.Config{})
	require.NoError(t, err)
	for _, report := range reports {
		require.Equal(t, []any{agent.EndTurn, 3}, []any{report.Reason, report.Steps})
		for _, said := range report.Messages {
			for _, result := range said.Results {
				require.True(t, result.IsError)
				if found := tried.FindStringSubmatch(result.Text); found != nil {
					n, err := strconv.Atoi(found[1])
					require.NoError(t, err)
					through, attempts = through+1, attempts+n
				}
			}
		}
	}
	sum := sumUp(reports)
	require.Equal(t, []int{2 * agents, 2*agents - through}, []int{sum.calls, sum.refused})
	require.Len(t, desk.Requests(), attempts)
	require.GreaterOrEqual(t, through, 2*5, "the circuits of two tools opened")
	require.LessOrEqual(t, attempts, through+retries)

	report, err := agent.Run(t.Context(), one, agent.Config{})
	require.NoError(t, err)
	require.Equal(t, agent.EndTurn, report.Reason)
	require.Len(t, desk.Requests(), attempts, "open circuits ask nothing of the help desk")
	require.Empty(t, desk.Outbox())
}

// TestStormUnguarded shows what the guards are for, and that the summary would say so if they failed.
func TestStormUnguarded(t *testing.T) {
	s := storming(t)
	s.server = []string{"--retry-budget=-1", "--breaker-threshold=-1", "--attempt-timeout", "5s"}
	text, o := driveOutage(t, s)
	require.Contains(t, text, "100 calls: 100 that were let through became 200 requests, more than 5 retries\n")
	require.Equal(t, map[string]int{"get_ticket": 2 * 51, "search_tickets": 2 * 51}, o.requests)
}

func TestLaterFaultThatCannotBe(t *testing.T) {
	s := scenario{name: "odd", run: breakingAt(2, "fly=drop")}
	_, err := testDriver(t, t.Output()).driveAll(t.Context(), []scenario{s})
	require.ErrorContains(t, err, "scenario odd: break the help desk: ")
}

func TestRefusedFor(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"Error: search_help was not run: it has kept failing since 14:02:07 UTC, so it is not tried for a while. The next try is possible in 3s.":                               3 * time.Second,
		"Error: get_ticket was not run: it has kept failing since 14:02:07 UTC, so it is not tried for a while. The next try is possible in 30s. Meanwhile use search_tickets.": 30 * time.Second,
		"Error: search_help failed after 2 tries: Kitebase answered 503 (KitebaseUnavailable). Kitebase may be slow or down.":                                                   0,
		"": 0,
	} {
		require.Equal(t, want, refusedFor(text), text)
	}
}

func TestWaitEndsWithItsCaller(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, wait(ctx, time.Hour), context.Canceled)
}
