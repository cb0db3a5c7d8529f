package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/tools/txtar"
)

var (
	update = flag.Bool("update", false, "rewrite the golden files")
	// server and program are the binaries that TestMain built.
	server, program string
)

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(testMain(m))
}

func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "client_example_test")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	server, program = filepath.Join(dir, serverName()), filepath.Join(dir, "client_example")
	if output, err := exec.Command("go", "build", "-o", dir, serverPackage, ".").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the server and the client: %v\n%s", err, output)
		return 1
	}
	code := m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// result is what a run of the program left behind.
type result struct {
	stdout, stderr string
	err            error
}

func runWith(t *testing.T, args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	err := run(t.Context(), args, os.Environ(), strings.NewReader(""), &stdout, &stderr)
	return result{stdout.String(), stderr.String(), err}
}

// TestTranscripts runs each scenario with the real server as a child process, and holds what is printed to the golden
// file.
func TestTranscripts(t *testing.T) {
	path := filepath.Join("testdata", "transcripts.txtar")
	golden, err := txtar.ParseFile(path)
	require.NoError(t, err)
	want := map[string]string{}
	for _, file := range golden.Files {
		want[file.Name] = string(file.Data)
	}
	golden.Files = nil
	for _, s := range scenarios() {
		t.Run(s.name, func(t *testing.T) {
			got := runWith(t, "-server", server, s.name)
			require.NoError(t, got.err)
			require.Empty(t, got.stderr)
			golden.Files = append(golden.Files, txtar.File{Name: s.name, Data: []byte(got.stdout)})
			if !*update {
				require.Equal(t, want[s.name], got.stdout)
			}
		})
	}
	if *update && !t.Failed() {
		require.NoError(t, os.WriteFile(path, txtar.Format(golden), 0o644))
	}
}

func TestAllScenariosEndWithATable(t *testing.T) {
	got := runWith(t, "-server", server)
	require.NoError(t, got.err)
	lines := strings.Split(strings.TrimSpace(got.stdout), "\n")
	rows := lines[len(lines)-len(scenarios())-1:]
	require.Equal(t, []string{"scenario", "ending", "steps", "emails", "seconds"}, strings.Fields(rows[0]))
	for i, s := range scenarios() {
		require.Equal(t, s.name, strings.Fields(rows[i+1])[0])
		require.Contains(t, got.stdout, s.name+": "+s.breaks+"\n[1] ")
	}
}

func TestSomeScenariosByName(t *testing.T) {
	got := runWith(t, "happy", "-server", server, "duplicate", "-v")
	require.NoError(t, got.err, "flags behind a name count as well")
	require.Contains(t, got.stdout, "duplicate  DONE (end_turn)")
	require.NotContains(t, got.stdout, "flaky")
	require.Contains(t, got.stderr, "    | ", "the server's log is set off")
}

func TestRunThatDoesNotEndAsListedIsAnError(t *testing.T) {
	var stdout bytes.Buffer
	broken, ok := findScenario("happy")
	require.True(t, ok)
	broken.faults = []string{"reply_to_customer=status=403"}
	err := driver{server: server, stdout: &stdout, serverLog: t.Output()}.driveAll(t.Context(), []scenario{broken})
	require.EqualError(t, err, "happy did not end as listed: DONE (end_turn) after 4 step(s), 1 email(s) sent")
	require.Equal(t, 1, exitCode(err))
	require.Contains(t, stdout.String(), "DONE (end_turn) after 4 step(s), 0 email(s) sent", "emails are counted at the help desk")
}

func TestInterruptedRunHasAHandover(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	stdout := &watcher{prefix: "[2]", seen: cancel}
	s, ok := findScenario("happy")
	require.True(t, ok)
	err := driver{server: server, stdout: stdout, serverLog: t.Output()}.driveAll(ctx, []scenario{s})
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

func TestCommandLine(t *testing.T) {
	list := "  happy       nothing breaks\n"
	for name, test := range map[string]struct {
		args           []string
		code           int
		stdout, stderr string
		err            string
	}{
		"-list":             {[]string{"-list"}, 0, list, "", ""},
		"help":              {[]string{"-h"}, 0, "", "usage: client_example", ""},
		"unknown scenario":  {[]string{"hapy"}, 2, "", "", "unknown scenario \"hapy\"; the scenarios are:\n\n" + list},
		"one that is known": {[]string{"happy", "hapy"}, 2, "", "", "unknown scenario \"hapy\""},
		"unknown flag":      {[]string{"-sever", "x"}, 2, "", "flag provided but not defined: -sever", "see client_example -h"},
		"no server":         {[]string{"-server", "/no/such/kitebase-mcp"}, 1, "", "", "find the server of -server"},
	} {
		t.Run(name, func(t *testing.T) {
			got := runWith(t, test.args...)
			require.Equal(t, test.code, exitCode(got.err))
			require.Contains(t, got.stdout, test.stdout)
			require.Contains(t, got.stderr, test.stderr)
			if test.err == "" {
				require.NoError(t, got.err)
			} else {
				require.ErrorContains(t, got.err, test.err)
			}
		})
	}
}
