package tools_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/tools"
)

// Each file of testdata/arguments.txtar is named tool/case and holds the arguments on its first line, then what becomes
// of them: the request at Kitebase, or the refusal.
func TestArguments(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/arguments.txtar")
	require.NoError(t, err)
	for i, file := range archive.Files {
		t.Run(file.Name, func(t *testing.T) {
			name, _, _ := strings.Cut(file.Name, "/")
			arguments, want, _ := strings.Cut(string(file.Data), "\n")
			kitebase := answering(404, "{}")
			_, err := call(kitebase.client(t), name, arguments)
			got := told(t, kitebase, err)
			if *update {
				archive.Files[i].Data = []byte(arguments + "\n" + got)
				return
			}
			require.Equal(t, want, got)
		})
	}
	if *update {
		require.NoError(t, os.WriteFile("testdata/arguments.txtar", txtar.Format(archive), 0o600))
	}
}

// told says what became of a call's arguments.
func told(t testing.TB, upstream *upstream, err error) string {
	require.Error(t, err, "this upstream knows nothing")
	if len(upstream.requests) > 0 {
		return "sends " + strings.Join(upstream.requests, "\n") + "\n"
	}
	return "refused: " + requireRefused(t, err) + "\n"
}

// requireRefused checks that the error says all of a refusal, and returns its words.
func requireRefused(t testing.TB, err error) string {
	var refusal interface {
		Kind() string
		Reason() string
		Refused() bool
		Retryable() bool
		RetryAfter() time.Duration
		Outcome() idempotency.Outcome
	}
	require.ErrorAs(t, err, &refusal)
	require.Equal(t, "invalid", refusal.Kind())
	require.True(t, refusal.Refused())
	require.False(t, refusal.Retryable())
	require.Zero(t, refusal.RetryAfter())
	require.Equal(t, idempotency.NotDone, refusal.Outcome())
	require.True(t, utf8.ValidString(refusal.Reason()))
	require.NotContains(t, refusal.Reason(), "\n")
	require.Less(t, len(refusal.Reason()), 400)
	return refusal.Reason()
}

func TestMessageLimit(t *testing.T) {
	const limit = 64 << 10
	for name, test := range map[string]struct {
		message string
		taken   bool
	}{
		"as long as can be":              {strings.Repeat("x", limit), true},
		"a byte more":                    {strings.Repeat("x", limit+1), false},
		"bytes count, not characters":    {strings.Repeat("é", limit/2+1), false},
		"white space around is not sent": {" \n" + strings.Repeat("x", limit) + "\n ", true},
	} {
		t.Run(name, func(t *testing.T) {
			arguments, err := json.Marshal(map[string]string{"ticket_id": "KITE-1", "message": test.message})
			require.NoError(t, err)
			_, got, err := tools.ReplyArguments(wireRequest(string(arguments)))
			if test.taken {
				require.NoError(t, err)
				require.Len(t, got, limit)
				return
			}
			require.Regexp(t, `^The message is too long: 6553\d bytes, and Kitebase takes at most 65536. Shorten it.$`, requireRefused(t, err))
		})
	}
}

func TestShortTextLimits(t *testing.T) {
	long := strings.Repeat("é", 501)
	for name, arguments := range map[string]string{
		"search_help":    `{"query":"` + long + `"}`,
		"search_tickets": `{"query":"` + long + `"}`,
		"assign_ticket":  `{"ticket_id":"KITE-1","assignee":"` + long + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := call(answering(404, "{}").client(t), name, arguments)
			require.Contains(t, requireRefused(t, err), "is too long: 501 characters, and at most")
		})
	}
}

func TestArgumentsOfGoCallers(t *testing.T) {
	request := func(arguments any) mcp.CallToolRequest {
		var request mcp.CallToolRequest
		request.Params.Arguments = arguments
		return request
	}
	t.Run("map", func(t *testing.T) {
		id, assignee, err := tools.AssignArguments(request(map[string]any{"ticket_id": " kite-7 ", "assignee": "priya"}))
		require.NoError(t, err)
		require.Equal(t, []string{"KITE-7", "priya"}, []string{id, assignee})
	})
	t.Run("raw arguments win", func(t *testing.T) {
		both := request(map[string]any{"ticket_id": "KITE-1", "assignee": "omar"})
		both.Params.RawArguments = json.RawMessage(`{"ticket_id":"KITE-2","assignee":"priya"}`)
		id, assignee, err := tools.AssignArguments(both)
		require.NoError(t, err)
		require.Equal(t, []string{"KITE-2", "priya"}, []string{id, assignee})
	})
	for name, test := range map[string]struct {
		arguments any
		want      string
	}{
		"none":            {nil, "The ticket_id is missing. Ticket ids look like KITE-142."},
		"invalid UTF-8":   {map[string]any{"ticket_id": "KITE-1", "assignee": "p\xff"}, "The arguments contain damaged characters. Write them again as plain text."},
		"text":            {"KITE-1", `The arguments must be a JSON object such as {"ticket_id": "KITE-142", "assignee": "priya"}, not text.`},
		"not JSON at all": {map[string]any{"ticket_id": func() {}}, "The arguments are not valid JSON."},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := tools.AssignArguments(request(test.arguments))
			require.Equal(t, test.want, requireRefused(t, err))
		})
	}
	t.Run("raw bytes that are not JSON", func(t *testing.T) {
		for _, raw := range []string{`{`, `{"ticket_id":}`, `{"ticket_id":"KITE-1"} {}`, "\x00"} {
			_, _, err := tools.AssignArguments(wireRequest(raw))
			require.Equal(t, "The arguments are not valid JSON.", requireRefused(t, err))
		}
	})
}
