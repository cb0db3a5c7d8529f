package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"
)

// requestsOf says how many requests of each operation reach the help desk in a scenario.
var requestsOf = map[string]map[string]int{
	"happy":             {"get_ticket": 1, "search_help": 1, "reply_to_customer": 1},
	"flaky":             {"get_ticket": 1, "search_help": 2, "reply_to_customer": 1},
	"slow":              {"get_ticket": 2, "search_tickets": 1, "search_help": 1, "reply_to_customer": 1},
	"duplicate":         {"get_ticket": 1, "search_help": 1, "reply_to_customer": 2},
	"no-keys":           {"get_ticket": 1, "search_help": 1, "reply_to_customer": 2},
	"no-keys-guarded":   {"get_ticket": 2, "search_help": 1, "reply_to_customer": 1}, // the ticket is read back
	"deadline":          {"get_ticket": 1, "search_help": 1},
	"loop":              {"get_ticket": 2}, // calls 3 and 4 do not get there
	"runaway":           {"get_ticket": 8},
	"cut-off":           {"get_ticket": 1, "search_help": 1, "reply_to_customer": 1}, // no assign_ticket, no half reply
	"refusal":           {},
	"model-unavailable": {},
}

// rest is what the run of scenario deadline has left for its second call. It depends on the machine.
var rest = regexp.MustCompile(`(search_help failed after 1 try: no response after) [0-9.]+s`)

// patient gives the server 1s for each try in place of 0.2s, so that on a busy machine nothing but what the scenario breaks
// is tried twice. The words are put back.
func patient(s scenario) (scenario, *strings.Replacer) {
	s.server = append(slices.Clone(s.server), "--attempt-timeout", "1s")
	return s, strings.NewReplacer("failed after 2 tries: no response after 1s", "failed after 2 tries: no response after 0.2s")
}

// TestScenarios runs each scenario of desk and model with the real server as a child process. It must end as listed, with so many requests
// at the help desk, and what it prints is held to the golden file.
func TestScenarios(t *testing.T) {
	path := filepath.Join("testdata", "transcripts.txtar")
	golden, err := txtar.ParseFile(path)
	require.NoError(t, err)
	want := map[string]string{}
	for _, file := range golden.Files {
		want[file.Name] = string(file.Data)
	}
	golden.Files = nil
	for _, s := range slices.Concat(deskScenarios(), modelScenarios()) {
		t.Run(s.name, func(t *testing.T) {
			var stdout bytes.Buffer
			s, words := patient(s)
			outcomes, err := testDriver(t, &stdout).driveAll(t.Context(), []scenario{s})
			require.NoError(t, err)
			require.Equal(t, s.ending, outcomes[0].ending())
			require.Equal(t, requestsOf[s.name], outcomes[0].requests)
			text := words.Replace(rest.ReplaceAllString(stdout.String(), "$1 0.3s"))
			golden.Files = append(golden.Files, txtar.File{Name: s.name, Data: []byte(text)})
			if !*update {
				require.Equal(t, want[s.name], text)
			}
		})
	}
	if *update && !t.Failed() {
		require.NoError(t, os.WriteFile(path, txtar.Format(golden), 0o644))
	}
}

func testDriver(t *testing.T, stdout io.Writer) driver {
	return driver{server: server, screen: &screen{out: stdout}, serverLog: t.Output()}
}

func TestRunThatDoesNotEndAsListedIsAnError(t *testing.T) {
	var stdout bytes.Buffer
	broken, ok := findScenario("happy")
	require.True(t, ok)
	broken.faults = []string{"reply_to_customer=status=403"}
	d := testDriver(t, &stdout)
	outcomes, err := d.driveAll(t.Context(), []scenario{broken})
	require.NoError(t, err)
	err = d.judge(outcomes)
	require.EqualError(t, err, "happy did not end as listed: DONE (end_turn) after 4 step(s), 1 email(s) sent")
	require.Equal(t, 1, exitCode(err))
	require.Contains(t, stdout.String(), "DONE (end_turn) after 4 step(s), 0 email(s) sent", "emails are counted at the help desk")
}

func TestFaultThatCannotBe(t *testing.T) {
	_, err := testDriver(t, t.Output()).driveAll(t.Context(), []scenario{{name: "odd", faults: []string{"fly=drop"}}})
	require.ErrorContains(t, err, "scenario odd: break the help desk: ")
}

func TestInterruptedRunHasAHandover(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	stdout := &watcher{prefix: "[2]", seen: cancel}
	s, ok := findScenario("happy")
	require.True(t, ok)
	_, err := testDriver(t, stdout).driveAll(ctx, []scenario{s})
	require.EqualError(t, err, "scenario happy: interrupted")
	require.Contains(t, stdout.String(), `    -> is_error: Error: search_help gave no answer.
I couldn't finish this: the run was interrupted.
Changes made: none, nothing was sent to the customer or changed.
A person needs to pick this up.
FAILED (canceled) after 3 step(s), 0 email(s) sent
`)
}

// watcher calls seen when something is written that begins with prefix.
type watcher struct {
	bytes.Buffer
	prefix string
	seen   func()
}

func (w *watcher) Write(p []byte) (int, error) {
	if strings.HasPrefix(string(p), w.prefix) {
		w.seen()
	}
	return w.Buffer.Write(p)
}
