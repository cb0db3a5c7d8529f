package main

import (
	"bytes"
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/kitebase/kitebase-mcp/fakeapi"
)

var (
	update = flag.Bool("update", false, "rewrite the golden files")
	// server and program are the binaries that TestMain built.
	server, program string
)

func TestMain(m *testing.M) {
	if diesOnPurpose() {
		return
	}
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
	if err := warmUp(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// warmUp has the help desk, which lives in this process, make its search index. The first search would take longer than the
// 0.2s that scenarios give it.
func warmUp() error {
	desk, err := fakeapi.New(fakeapi.Config{})
	if err != nil {
		return err
	}
	defer desk.Close()
	desk.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/v1/help/search?query=sso", nil))
	return nil
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

func TestAllScenariosEndWithATable(t *testing.T) {
	got := runWith(t, "-server", server)
	require.NoError(t, got.err)
	lines := strings.Split(strings.TrimSpace(got.stdout), "\n")
	rows := lines[len(lines)-len(scenarios())-1:]
	require.Equal(t, []string{"scenario", "ending", "steps", "emails", "seconds"}, strings.Fields(rows[0]))
	for i, s := range scenarios() {
		require.Equal(t, s.name, strings.Fields(rows[i+1])[0])
		require.Contains(t, got.stdout, s.name+": "+s.breaks+"\n")
	}
}

func TestSomeScenariosByName(t *testing.T) {
	got := runWith(t, "flaky", "-server", server, "slow", "-v")
	require.NoError(t, got.err, "flags behind a name count as well")
	require.Contains(t, got.stdout, "slow      DONE (end_turn)")
	require.NotContains(t, got.stdout, "duplicate")
	require.Regexp(t, `(?m)^    \| .* msg="call failed" call=\S+ tool=get_ticket `, got.stderr, "the server's log is set off")
	require.Regexp(t, `(?m)^    attempt 1: connection reset by Kitebase \(KitebaseUnavailable\)\. Retrying in 0\.\d+s\.$`, got.stdout)
}

func TestCommandLine(t *testing.T) {
	list := "  happy                nothing breaks\n"
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
		"negative attempts": {[]string{"-attempts", "-1"}, 2, "", "", "-attempts takes a number from 1"},
		"negative deadline": {[]string{"happy", "-deadline", "-1s"}, 2, "", "", "-deadline takes a time above 0, such as 0.8s"},
		"negative steps":    {[]string{"-max-steps", "-1", "happy"}, 2, "", "", "-max-steps takes a number from 1"},
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

func TestExperiments(t *testing.T) {
	for name, test := range map[string]struct {
		args   []string
		code   int
		stdout string
	}{
		"fewer steps": {[]string{"-max-steps", "3", "happy"}, 3, `I couldn't finish this: the run hit its 3-step limit.
Changes made: a reply was sent: rpl_001.
A person needs to pick this up.
FAILED (max_steps) after 3 step(s), 1 email(s) sent
`},
		"less time":    {[]string{"-deadline", "0.1s", "slow"}, 3, "FAILED (deadline) after 2 step(s), 0 email(s) sent\n"},
		"one try":      {[]string{"-attempts", "1", "flaky"}, 0, "-> is_error: Error: search_help failed after 1 try: connection reset by Kitebase (KitebaseUnavailable)."},
		"of several":   {[]string{"-max-steps", "2", "happy", "refusal"}, 0, "happy     FAILED (max_steps)  2"},
		"of no effect": {[]string{"-max-steps", "5", "happy"}, 0, "DONE (end_turn) after 4 step(s), 1 email(s) sent\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got := runWith(t, append([]string{"-server", server}, test.args...)...)
			require.Equal(t, test.code, exitCode(got.err), "%v", got.err)
			require.Contains(t, got.stdout, test.stdout)
			require.Empty(t, got.stderr)
		})
	}
}
