package resilience_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/server/resilience"
)

// FuzzWords states: whatever a handler fails with, a model reads one line of valid UTF-8 under 600 bytes that begins with
// Error and is the same in every run.
func FuzzWords(f *testing.F) {
	f.Add("connection reset by Kitebase", uint8(0), int64(0))
	f.Add("a\nb\x00\xff\u2028"+strings.Repeat("é", 400), uint8(5), int64(-1))
	f.Add("<html>%!v(MISSING)", uint8(9), int64(1<<62))
	kinds := []resilience.Kind{
		resilience.Invalid, resilience.NotFound, resilience.Conflict, resilience.KeyReused, resilience.Held, resilience.Denied,
		resilience.RateLimited, resilience.Unavailable, resilience.TimedOut, resilience.BadAnswer, resilience.Misconfigured,
		resilience.InProgress, resilience.Internal,
	}
	f.Fuzz(func(t *testing.T, says string, which uint8, wait int64) {
		failure := &resilience.Failure{
			What: kinds[int(which)%len(kinds)], Says: says, Wait: time.Duration(wait), NotRun: which&64 != 0,
			Effect: []idempotency.Outcome{idempotency.Unknown, idempotency.NotDone}[which>>7],
		}
		synctest.Test(t, func(t *testing.T) {
			result := guard(t, sends(does(fails(failure)).handle), resilience.Policy{})(t.Context())
			require.True(t, result.IsError)
			said := text(result)
			require.True(t, strings.HasPrefix(said, "Error: "), said)
			require.True(t, utf8.ValidString(said))
			require.Less(t, len(said), 600)
			require.False(t, strings.ContainsFunc(said, unicode.IsControl), "%q", said)
			told := info(t, result)
			require.GreaterOrEqual(t, told.RetryAfterMS, int64(0))
			require.Contains(t, []string{"change_input", "other_tool", "wait", "check", "person"}, told.Next)
		})
	})
}

// FuzzAnnotate states: whatever object a tool returns, a note makes it an object with that note and all that was in it, and the
// text tells the same.
func FuzzAnnotate(f *testing.F) {
	for _, object := range []string{`{}`, ` { } `, `{"note":"old","a":1}`, `{"note":7}`, `{"a":{"b":[1,2]},"a":2}`, `{"Note":"x"}`, `[]`, `{"note":null}`} {
		f.Add(object, "A note.")
	}
	f.Add(`{}`, "\n{")
	f.Fuzz(func(t *testing.T, object, note string) {
		var before map[string]any
		if json.Unmarshal([]byte(object), &before) != nil || before == nil || note == "" || !utf8.ValidString(note) {
			return
		}
		result := &mcp.CallToolResult{RawStructuredContent: json.RawMessage(object), Content: []mcp.Content{mcp.NewTextContent(object)}}
		resilience.Annotate(result, note)
		var after map[string]any
		require.NoError(t, json.Unmarshal(result.RawStructuredContent, &after), "%s", result.RawStructuredContent)
		require.Contains(t, after["note"], note)
		require.Equal(t, fmt.Sprintf("%s\n%s", after["note"], result.RawStructuredContent), text(result))
		delete(before, "note")
		delete(after, "note")
		require.Equal(t, before, after)
	})
}
