package lab_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server/lab"
)

// TestStrayOutput: what a server wrote to stdout beside its messages was told nowhere, so that one with a banner had a clean
// card, and one that wrote nothing else did "not answer" for no reason.
func TestStrayOutput(t *testing.T) {
	t.Parallel()
	const banner, log = "Server running on stdio", `{"level":"info","msg":"ready"}`
	t.Run("found", func(t *testing.T) {
		t.Parallel()
		report := run(t, config(t, []string{"once/well", "end/after", "keyless/lose"}, "-prints="+banner+"\n"+log+"\n"))
		require.Equal(t, 2, report.Card.StrayOutput, "once for each case")
		require.Equal(t, 1, report.Keyless.StrayOutput)
		require.Equal(t, report.Card.Findings(), report.Card.StrayOutput+report.Card.Duplicates)
		found := lab.Finding{Kind: lab.StrayOutput, Count: 1, Says: "2 lines on stdout are no JSON-RPC messages; the first: " + banner}
		for _, result := range report.Cases {
			if result.Name == "once/well" {
				require.Equal(t, []lab.Finding{found}, result.Findings)
			}
		}
		require.Contains(t, report.Verdict(), "0 unanswered calls, stray output in 2 cases;")
		require.Contains(t, page(t, report), "<b>2</b><span>cases with stray output</span>")
		require.Contains(t, page(t, report), found.Says)
	})
	t.Run("a call without an answer", func(t *testing.T) {
		t.Parallel()
		c := config(t, []string{"once/well"}, "-does=silent", "-prints="+banner+"\n")
		c.CallLimit = 200 * time.Millisecond
		_, says := kinds(run(t, c))
		require.Contains(t, says, "no answer within 200ms (1 line on stdout is no JSON-RPC message: "+banner+").")
	})
	t.Run("a line that is too long", func(t *testing.T) {
		t.Parallel()
		report := run(t, config(t, []string{"once/well"}, "-floods=17000000"))
		require.Equal(t, 1, report.Card.Well, "what follows is read")
		_, says := kinds(report)
		require.Contains(t, says, "1 line on stdout longer than 16 MiB, which the lab does not read; the first: xxx")
		require.Less(t, len(says), 300)
	})
	for name, flags := range map[string][]string{
		"a first start that fails":     {"-does=exits", "-prints=" + banner + "\n"},
		"answers that are no JSON-RPC": {`-adds="hello":"there"`},
		"answers of another version":   {`-adds="jsonrpc":"1.0"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := config(t, nil, flags...)
			c.StartLimit = 2 * time.Second
			_, err := lab.Run(t.Context(), c)
			require.ErrorContains(t, err, "1 line on stdout is no JSON-RPC message: ")
		})
	}
	for name, prints := range map[string]string{
		"blank lines":                        "\n  \r\n\n",
		"the answer to what was no question": `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}` + "\n",
		"a note":                             `{"jsonrpc":"2.0","method":"notifications/message","params":{}}` + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, says := kinds(run(t, config(t, []string{"once/well"}, "-prints="+prints)))
			require.Empty(t, found, says)
		})
	}
}

// TestHalfAMessage: a server that is killed while it writes cannot end its line.
func TestHalfAMessage(t *testing.T) {
	t.Parallel()
	for does, want := range map[string][]lab.Kind{"breaks-off": nil, "mumbles": {lab.StrayOutput}} {
		t.Run(does, func(t *testing.T) {
			t.Parallel()
			report := run(t, config(t, []string{"end/killed-lost"}, "-does="+does))
			found, says := kinds(report)
			require.Equal(t, want, found, says)
		})
	}
}
