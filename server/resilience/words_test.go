package resilience_test

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/server/resilience"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func cutLine(s string) (line, rest string, found bool) { return strings.Cut(s, "\n") }

// TestWords holds every variant of what a model reads to the golden file: each kind of failure, of reads and of writes, tried
// and not tried, with each outcome.
func TestWords(t *testing.T) {
	archive := &txtar.Archive{Comment: []byte("What a model reads when a call fails, and what a program reads beside it.\n" +
		"Written by: go test ./server/resilience -run TestWords -update\n")}
	for _, kind := range []resilience.Kind{
		resilience.Invalid, resilience.NotFound, resilience.Conflict, resilience.KeyReused, resilience.Held, resilience.Denied,
		resilience.RateLimited, resilience.Unavailable, resilience.TimedOut, resilience.BadAnswer, resilience.Misconfigured,
		resilience.InProgress, resilience.CircuitOpen, resilience.Busy, resilience.Canceled, resilience.Internal,
	} {
		archive.Files = append(archive.Files,
			worded(t, string(kind)+", not done", &resilience.Failure{What: kind, Effect: idempotency.NotDone, Wait: 20 * time.Second}, reads, sends),
			worded(t, string(kind)+", not run", &resilience.Failure{What: kind, Effect: idempotency.NotDone, NotRun: true}, sends),
			worded(t, string(kind)+", unknown", &resilience.Failure{What: kind, Wait: 20 * time.Second}, sends))
	}
	for name, failure := range map[string]error{
		"fixed/timeout": &resilience.Failure{What: resilience.TimedOut, Says: "no response after 0.2s"},
		"fixed/no such ticket": &resilience.Failure{What: resilience.NotFound, Effect: idempotency.NotDone,
			Says: "No ticket KITE-412. Ticket ids look like KITE-142."},
		"a reason":         &resilience.Failure{What: resilience.Unavailable, Says: "connection reset by Kitebase"},
		"a wait":           &resilience.Failure{What: resilience.RateLimited, Wait: 90 * time.Second, Effect: idempotency.NotDone},
		"a plain error":    errors.New("dial tcp 10.0.0.1:443: i/o timeout"),
		"a sentence":       &resilience.Failure{What: resilience.Invalid, Says: "There is no agent bob. Ask who works here.", Effect: idempotency.NotDone},
		"a hostile reason": &resilience.Failure{What: resilience.Unavailable, Says: "line one\nline two\x1b[31m\xff\x00 " + strings.Repeat("long ", 300)},
	} {
		archive.Files = append(archive.Files, worded(t, name, failure, reads, sets, sends))
	}
	archive.Files = append(archive.Files, outageWords(t)...)
	slices.SortFunc(archive.Files, func(a, b txtar.File) int { return strings.Compare(a.Name, b.Name) })

	const golden = "testdata/words.txtar"
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(golden, txtar.Format(archive), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), string(txtar.Format(archive)))
}

type kindOfTool = func(mcpserver.ToolHandlerFunc) mcpserver.ServerTool

// worded lets tools fail with err and returns what is told.
func worded(t *testing.T, name string, err error, tools ...kindOfTool) txtar.File {
	t.Helper()
	var told strings.Builder
	synctest.Test(t, func(t *testing.T) {
		for _, tool := range tools {
			told.WriteString(tell(t, guard(t, tool(does(fails(err)).handle), resilience.Policy{})))
		}
	})
	return txtar.File{Name: name, Data: []byte(told.String())}
}

func tell(t *testing.T, call caller) string {
	t.Helper()
	return told(t, call(t.Context()))
}

func told(t *testing.T, result *mcp.CallToolResult) string {
	t.Helper()
	words := text(result)
	checkRules(t, words)
	meta, err := json.Marshal(info(t, result))
	require.NoError(t, err)
	return words + "\n  " + string(meta) + "\n"
}

var goSyntax = regexp.MustCompile(`&\{|map\[|0x[0-9a-f]{6}|\.go:|goroutine |%!|<nil>|dial tcp|context (canceled|deadline)|https?://|<[a-z]+>`)

func checkRules(t *testing.T, words string) {
	t.Helper()
	require.True(t, strings.HasPrefix(words, "Error: "), words)
	require.True(t, utf8.ValidString(words), words)
	require.Less(t, len(words), 600, words)
	require.NotContains(t, words, "\n")
	require.NotContains(t, words, "\x1b")
	require.NotRegexp(t, goSyntax, words)
	require.Regexp(t, `[.…]$`, words)
}
