package main

import (
	"encoding/json"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestJSONOfOneScenario(t *testing.T) {
	got := runWith(t, "-server", server, "-json", "loop")
	require.ErrorIs(t, got.err, errHandedOver)
	require.Empty(t, got.stderr)
	require.Equal(t, `{
  "scenario": "loop",
  "ending": "FAILED (stuck) after 4 step(s), 0 email(s) sent",
  "listed_ending": "FAILED (stuck) after 4 step(s), 0 email(s) sent",
  "emails": 0,
  "requests": {
    "get_ticket": 2
  },
  "report": {
    "reason": "stuck",
    "succeeded": false,
    "message": "I couldn't finish this: Claude kept repeating get_ticket although it had failed 2 times.\nChanges made: none, nothing was sent to the customer or changed.\nA person needs to pick this up.",
    "text": "",
    "stop_reason": "tool_use",
    "changes": [],
    "steps": 4,
    "seconds": 0,
    "tokens": {
      "input": 0,
      "output": 0
    },
    "cost_usd": 0
  }
}
`, regexp.MustCompile(`"seconds": [0-9.]+`).ReplaceAllString(got.stdout, `"seconds": 0`))
}

func TestJSONOfSeveralScenarios(t *testing.T) {
	got := runWith(t, "-server", server, "-json", "-v", "no-keys", "flaky")
	require.NoError(t, got.err)
	var documents []struct {
		Scenario string
		Emails   int
		Report   struct {
			Reason  string
			Message string
		}
	}
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &documents))
	require.Len(t, documents, 2)
	require.Equal(t, "no-keys", documents[0].Scenario)
	require.Equal(t, 2, documents[0].Emails)
	require.Equal(t, "end_turn", documents[0].Report.Reason)
	require.Contains(t, documents[0].Report.Message, "\nNot confirmed: a reply to KITE-142.")
	require.Equal(t, "Done.\nChanges made: a reply was sent: rpl_001.", documents[1].Report.Message)
	require.Contains(t, got.stderr, "    attempt 1: ", "waits and attempts do not disturb the document")
}
