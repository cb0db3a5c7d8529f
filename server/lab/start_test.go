package lab_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server/lab"
)

// TestFailedStart: one start that failed, in any case, threw all results away. Now it is the result of its case, and is not
// tried again. The first start of a run is the one that tries the server out.
func TestFailedStart(t *testing.T) {
	t.Parallel()
	for name, trial := range map[string]struct {
		story, says, words string
		fails, starts      int
	}{
		"of a case": {story: "once/well", fails: 2, starts: 3,
			says: "no call could be made: the server did not start: it did not answer to initialize: the server has ended (exit status 7).", words: "the disk is full"},
		"after the end of a case": {story: "end/after", fails: 3, starts: 4,
			says: "reply_to_customer: the server ended without an answer.", words: "the server did not start again: it did not answer to initialize: the server has ended (exit status 7)"},
		"which would be repeated": {story: "end/killed-lost", fails: 3, starts: 4,
			says: "reply_to_customer: the server ended without an answer.", words: "the server did not start again: it did not answer to initialize: the server has ended (exit status 7)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			starts := filepath.Join(t.TempDir(), "starts")
			c := config(t, []string{trial.story, "arguments/wrong"}, "-starts="+starts, fmt.Sprintf("-fails=%d", trial.fails))
			c.Parallel = 1
			report := run(t, c)
			require.Len(t, report.Cases, 2)
			failed, other := report.Cases[0], report.Cases[1]
			require.Equal(t, trial.story, failed.Name)
			require.NotEmpty(t, failed.Findings)
			for _, finding := range failed.Findings {
				require.Equal(t, lab.Unanswered, finding.Kind)
				require.Equal(t, trial.says, finding.Says)
			}
			require.Contains(t, failed.LastWords, trial.words)
			require.Contains(t, failed.LastWords, "the disk is full")
			require.Empty(t, other.Findings)
			require.NotEmpty(t, other.Calls)
			count, err := os.ReadFile(starts)
			require.NoError(t, err)
			require.Len(t, count, trial.starts, "it is not tried again")
			require.Contains(t, page(t, report), "the disk is full")
		})
	}
}
