package lab_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server/lab"
)

// config returns the set-up that drives the server of these tests, with flags.
func config(t *testing.T, cases []string, flags ...string) lab.Config {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	return lab.Config{Command: append([]string{self}, flags...), Env: []string{actAsServer + "=1"}, Cases: cases}
}

func run(t *testing.T, c lab.Config) *lab.Report {
	t.Helper()
	report, err := lab.Run(t.Context(), c)
	require.NoError(t, err)
	return report
}

// kinds returns what was found, in order, and says of each what the lab says.
func kinds(report *lab.Report) (found []lab.Kind, says string) {
	for _, result := range report.Cases {
		for _, finding := range result.Findings {
			found = append(found, finding.Kind)
			says += result.Name + ": " + finding.Says + "\n"
		}
	}
	return found, says
}

// TestHonestServer: a server that is simple but tells the truth gets a clean card, in every case but the two that take long.
func TestHonestServer(t *testing.T) {
	t.Parallel()
	var names []string
	for _, each := range lab.Catalogue() {
		if !strings.HasPrefix(each.Name, "slow/") && !each.Keyless {
			names = append(names, each.Name)
		}
	}
	report := run(t, config(t, names))
	found, says := kinds(report)
	require.Empty(t, found, says)
	require.Len(t, report.Cases, len(names))
	require.Zero(t, report.Card.Findings())
	require.Zero(t, report.Card.Skipped)
	require.Greater(t, report.Card.Delivered, report.Card.Wanted*2/3)
	for _, result := range report.Cases {
		require.NotEmpty(t, result.Calls, result.Name)
		require.Empty(t, result.LastWords, result.Name)
	}
}

// TestKeyless: what the honest server cannot know is found, and not counted.
func TestKeyless(t *testing.T) {
	t.Parallel()
	report := run(t, config(t, []string{"keyless/lose", "once/lose"}))
	found, says := kinds(report)
	require.Equal(t, []lab.Kind{lab.Duplicate}, found, says)
	require.Zero(t, report.Card.Findings())
	require.Equal(t, 1, report.Keyless.Duplicates)
}

func TestMissingTool(t *testing.T) {
	t.Parallel()
	report := run(t, config(t, []string{"once/lose", "customer/*", "assign/drop"}, "-lacks=reply_to_customer"))
	require.Equal(t, 2, report.Card.Skipped)
	require.Equal(t, 1, report.Card.Calls)
	for _, result := range report.Cases {
		if result.Name != "assign/drop" {
			require.Equal(t, "the server has no tool reply_to_customer", result.Skipped)
		}
	}
	require.Contains(t, report.Verdict(), "Skipped, because tools are missing: 2 cases.")
}

// TestNothingToJudge: a server that lacks the tools of every case had a clean card in 0 cases, with exit code 0.
func TestNothingToJudge(t *testing.T) {
	t.Parallel()
	for name, cases := range map[string][]string{"one": {"once/well"}, "some": {"once/*", "customer/*"}, "keyless": {"keyless/*"}, "keyless, and one that counts": {"keyless/lose", "assign/drop"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lacks := "reply_to_customer"
			if len(cases) > 1 && cases[1] == "assign/drop" {
				lacks = "assign_ticket"
			}
			report, err := lab.Run(t.Context(), config(t, cases, "-lacks="+lacks))
			require.Nil(t, report)
			require.ErrorContains(t, err, "nothing to judge: the server lacks the tools of every case that was asked for, such as "+lacks)
		})
	}
	for name, report := range map[string]*lab.Report{
		"no case":         lab.NewReport(nil, nil),
		"skipped":         lab.NewReport(nil, []lab.Result{{Name: "once/well", Counted: true, Skipped: "the server has no tool"}}),
		"does not count":  lab.NewReport(nil, []lab.Result{{Name: "keyless/lose"}}),
		"all of them out": lab.NewReport(nil, []lab.Result{{Name: "keyless/lose"}, {Name: "once/well", Counted: true, Skipped: "the server has no tool"}}),
	} {
		require.Contains(t, report.Verdict(), "Nothing was judged in 0 cases", name)
	}
	require.Contains(t, lab.NewReport(nil, []lab.Result{{Name: "once/well", Counted: true}}).Verdict(), "Clean in 1 case:")
}

func TestServerDoesNotStart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config lab.Config
		says   []string
	}{
		"no such program": {lab.Config{Command: []string{"/nonexistent/server"}}, []string{"the server does not start", "check the command behind --"}},
		"it ends": {config(t, nil, "-does=exits"), []string{"the server is not ready for calls", "exit status 7", "must speak MCP on stdin and stdout",
			"the setting FLUX is missing"}},
		"none of the tools": {config(t, nil, "-lacks=assign_ticket,get_ticket,reply_to_customer,search_help,search_tickets"), []string{"the server has none of the tools"}},
		"not an MCP server": {lab.Config{Command: []string{"cat"}, StartLimit: time.Second}, []string{"did not answer to initialize", "it said nothing on stderr"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report, err := lab.Run(t.Context(), c.config)
			require.Nil(t, report)
			for _, part := range c.says {
				require.ErrorContains(t, err, part)
			}
		})
	}
}

func TestWrongConfig(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]lab.Config{
		"the command of the server is missing": {},
		"no case is named nothing/*":           {Command: []string{"x"}, Cases: []string{"once/*", "nothing/*"}},
		"no case is named [":                   {Command: []string{"x"}, Cases: []string{"["}},
		"a call takes a time above 0":          {Command: []string{"x"}, CallLimit: -1},
		"the start takes a time above 0":       {Command: []string{"x"}, StartLimit: -1},
		"takes a number from 1":                {Command: []string{"x"}, Parallel: -1},
	} {
		_, err := lab.Run(t.Context(), c)
		require.ErrorContains(t, err, want)
	}
}

// TestInterrupted: when the lab is ended, so are the servers. goleak sees the goroutines that wait for them.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	c := config(t, []string{"once/lose", "once/hang", "end/*"}, "-does=silent")
	c.Done = func(int, int, lab.Result) { t.Error("no case can be done") }
	time.AfterFunc(500*time.Millisecond, cancel) // somewhere in the cases, or before them
	report, err := lab.Run(ctx, c)
	require.Nil(t, report)
	require.ErrorIs(t, err, context.Canceled)
}

// TestWhatTheServerIsGiven: where Kitebase is, nothing of the settings of whoever runs the lab, and a state directory that is gone
// afterwards.
func TestWhatTheServerIsGiven(t *testing.T) {
	t.Parallel()
	c := config(t, []string{"customer/wrote", "end/after"}, "-answer="+text("at {url} with {token} in {state}, settings: {settings}, args: {args}"), "{url}", "{token}", "{state}")
	c.Env = append(c.Env, "KITEBASE_LEDGER=/the/ledger/of/somebody", "KITEBASE_URL=https://kitebase.example")
	report := run(t, c)
	states := make(map[string]bool)
	for _, result := range report.Cases {
		for _, call := range result.Calls {
			var url, token, state string
			said := strings.NewReplacer(", settings: , args: ", " ").Replace(call.Text)
			fields := strings.Fields(said)
			require.Len(t, fields, 9, call.Text)
			url, token, state = fields[1], fields[3], fields[5]
			require.Regexp(t, `^http://127\.0\.0\.1:\d+$`, url)
			require.Equal(t, []string{url, token, state}, fields[6:], "placeholders in the arguments")
			require.NoDirExists(t, state)
			states[state] = true
		}
	}
	require.Len(t, states, 2, "one for each case, also over a restart")
}

// text returns the result member of an answer with a text.
func text(says string) string { return `"result":{"content":[{"type":"text","text":"` + says + `"}]}` }
