package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/kitebase/kitebase-mcp/client_example/agent"
)

// TestResearchTranscripts runs each scenario with the real server as a child process, holds what is printed to the golden
// file, and counts what reached the help desk.
func TestResearchTranscripts(t *testing.T) {
	path := filepath.Join("testdata", "research.txtar")
	golden, err := txtar.ParseFile(path)
	require.NoError(t, err)
	want := map[string]string{}
	for _, file := range golden.Files {
		want[file.Name] = string(file.Data)
	}
	golden.Files = nil
	// Searches of help articles. Failures below the delegate are tried twice by the server, and by nobody else: had the
	// delegate tried again as well, the last would be 8.
	searches := map[string]int{
		"research-ok": 2, "research-stall": 2 + 1, "research-bad-result": 2 + 1, "research-open": 2 + 1 + 1, "research-probe": 2 + 1 + 2, "research-all-fail": 2 * 2,
	}
	for _, s := range researchScenarios() {
		t.Run(s.name, func(t *testing.T) {
			got, o := driveResearch(t, s)
			golden.Files = append(golden.Files, txtar.File{Name: s.name, Data: []byte(got)})
			if !*update {
				require.Equal(t, want[s.name], got)
			}
			require.Equal(t, s.ending, o.ending())
			require.Equal(t, searches[s.name], o.requests["search_help"])
		})
	}
	if *update && !t.Failed() {
		require.NoError(t, os.WriteFile(path, txtar.Format(golden), 0o644))
	}
}

// driveResearch runs a scenario and returns what it prints.
func driveResearch(t *testing.T, s scenario) (string, outcome) {
	t.Helper()
	desk, err := openDesk(s)
	require.NoError(t, err)
	defer desk.Close()
	tools, err := connect(t.Context(), server, t.Output(), "--url", desk.URL(), "--ledger", "memory", "--attempt-timeout", "200ms")
	require.NoError(t, err)
	defer func() { require.NoError(t, tools.Close()) }()

	var stdout bytes.Buffer
	out := newScreen(&stdout, nil)
	limits := agent.Config{OnEvent: (&transcript{screen: out}).write}
	report, err := s.model.(parent).run(t.Context(), out, agent.Job{Task: task, Model: s.model, Tools: tools}, limits)
	require.NoError(t, err)
	o := outcome{scenario: s, report: report, emails: len(desk.Outbox()), requests: map[string]int{}}
	for _, request := range desk.Requests() {
		o.requests[request.Operation]++
	}
	driver{screen: out}.conclude(o)
	return stdout.String(), o
}

func TestParentThatCannotReadTheTicket(t *testing.T) {
	s := researchScenarios()[0]
	s.faults = []string{"get_ticket=drop"}
	got, o := driveResearch(t, s)
	require.Contains(t, got, "[2] I could not read KITE-142, so I did not reply to the customer.\n")
	require.Equal(t, map[string]int{"get_ticket": 2}, o.requests)
}

// TestResearchThatIsInterrupted interrupts the earlier ticket's research, for which there is no report: that of the run
// must say so.
func TestResearchThatIsInterrupted(t *testing.T) {
	tools, _ := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	stdout := &watcher{prefix: "before, for KITE-101", seen: cancel}
	p := parent{deep: modelFunc(recovers), earlier: true}
	report, err := p.run(ctx, newScreen(stdout, nil), agent.Job{Task: task, Model: p, Tools: tools}, agent.Config{})
	require.NoError(t, err)
	require.Equal(t, agent.Canceled, report.Reason)
}
