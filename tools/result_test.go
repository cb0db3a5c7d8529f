package tools_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/kitebase/kitebase-mcp/tools"
	"github.com/kitebase/kitebase-mcp/tools/kitebase"
	"github.com/kitebase/kitebase-mcp/tools/legible"
)

// testdata/results.txtar holds for each case the call (tool and arguments), the status and answer of Kitebase, and the text
// of the result.
func TestResults(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/results.txtar")
	require.NoError(t, err)
	require.Zero(t, len(archive.Files)%3)
	for i := 0; i < len(archive.Files); i += 3 {
		called, answered, told := archive.Files[i], archive.Files[i+1], &archive.Files[i+2]
		t.Run(strings.TrimSuffix(called.Name, " call"), func(t *testing.T) {
			name, arguments, _ := strings.Cut(string(called.Data), " ")
			var status int
			_, err := fmt.Sscan(string(answered.Data), &status)
			require.NoError(t, err)
			_, body, _ := strings.Cut(string(answered.Data), "\n")
			result, err := call(answering(status, body).client(t), name, arguments)
			require.NoError(t, err)
			text := requireSuccess(t, name, result) + "\n"
			if *update {
				told.Data = []byte(text)
			}
			require.Equal(t, string(told.Data), text)
		})
	}
	if *update {
		require.NoError(t, os.WriteFile("testdata/results.txtar", txtar.Format(archive), 0o600))
	}
}

// requireSuccess checks what holds for every success, and returns its text.
func requireSuccess(t testing.TB, name string, result *mcp.CallToolResult) string {
	text := textOf(t, result)
	require.False(t, result.IsError)
	require.True(t, utf8.ValidString(text))
	require.LessOrEqual(t, len(text), 20<<10)
	_, dirty := legible.JSON(text)
	require.False(t, dirty, "there are characters that nobody can see")

	// Some hosts show the model the object, some the text: they say the same, and the note comes first.
	var object map[string]any
	require.NoError(t, json.Unmarshal(result.RawStructuredContent, &object))
	want := string(result.RawStructuredContent)
	if note, _ := object["note"].(string); note != "" {
		require.NotContains(t, note, "\n")
		want = note + "\n" + want
	}
	require.Equal(t, want, text)

	schema := compile(t, tool(nil, name).MCP().RawOutputSchema)
	require.NoError(t, schema.Validate(parse(t, string(result.RawStructuredContent))))
	for field, value := range map[string]any{ // that the layers of the server add
		"note": "Already sent.", "already_sent": true, "first_sent_at": "2026-01-02T03:04:05Z",
		"served_by": "copy", "as_of": "2026-01-02T03:04:05Z", "shortened": true, "cleaned": true,
	} {
		object[field] = value
		require.NoError(t, schema.Validate(object), field)
		object[field] = 1
		require.Error(t, schema.Validate(object), "the schema says what %s is", field)
		object[field] = value
	}
	return text
}

const instant = "2026-01-02T03:04:05Z"

// ticketWith returns a ticket as Kitebase writes it, with title and messages, oldest first.
func ticketWith(t testing.TB, title string, bodies ...string) string {
	messages := []map[string]any{}
	for i, body := range bodies {
		messages = append(messages, map[string]any{"id": fmt.Sprintf("msg_%d", i), "author": "customer", "body": body, "created_at": instant})
	}
	text, err := json.Marshal(map[string]any{
		"id": "KITE-1", "title": title, "status": "open", "priority": "high", "assignee": nil, "version": 3,
		"customer": map[string]any{"name": "Northwind Studio", "email": "it@northwind.example"}, "created_at": instant, "updated_at": instant,
		"messages": messages,
	})
	require.NoError(t, err)
	return string(text)
}

// Hosts cut what is too long for them wherever they please, so results stay under 20 KB and say what is missing.
func TestLongTickets(t *testing.T) {
	for name, test := range map[string]struct {
		title  string
		bodies []string
		note   string
	}{
		"many messages":       {"x", repeat(strings.Repeat("word ", 100), 100), "Only the newest 30 of 100 messages are shown. Left out: 70 older messages."},
		"one too many":        {"x", repeat(strings.Repeat("x", 4000), 5), "Only the newest 4 of 5 messages are shown. Left out: 1 older message."},
		"one huge message":    {"x", []string{strings.Repeat("x", 70_000)}, "Long messages are cut where marked; a person can read them in Kitebase."},
		"escapes":             {"x", []string{strings.Repeat("\u2028\"", 9000)}, "Long messages are cut where marked; a person can read them in Kitebase."},
		"emoji":               {"x", []string{strings.Repeat("🚀", 9000)}, "Long messages are cut where marked; a person can read them in Kitebase."},
		"many huge ones":      {"x", repeat(strings.Repeat("x", 9000), 50), "Only the newest 4 of 50 messages are shown. Left out: 46 older messages. Long messages are cut where marked; a person can read them in Kitebase."},
		"huge title":          {strings.Repeat("\u2028", 100_000), []string{"Hello"}, ""},
		"just fits":           {"x", repeat(strings.Repeat("x", 4000), 4), ""},
		"no messages":         {"x", nil, ""},
		"hidden before words": {"x", []string{strings.Repeat("\u200b\x01", 9000) + "Hello"}, "Invisible or control characters were removed from the text of this result."},
		"hidden, not shown":   {"x", append([]string{"\u200b" + strings.Repeat("x", 4000)}, repeat(strings.Repeat("x", 4000), 4)...), "Only the newest 4 of 5 messages are shown. Left out: 1 older message."},
		"marks of our kind":   {"x", []string{"see above… [cut]"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			result, err := call(answering(200, ticketWith(t, test.title, test.bodies...)).client(t), "get_ticket", `{"ticket_id":"KITE-1"}`)
			require.NoError(t, err)
			requireSuccess(t, "get_ticket", result)
			var got struct {
				Note      string
				Shortened bool
				Messages  []struct{ ID, Body string }
			}
			require.NoError(t, json.Unmarshal(result.RawStructuredContent, &got))
			require.Equal(t, test.note, got.Note)
			require.Equal(t, test.note != "" && name != "hidden before words", got.Shortened)
			require.NotNil(t, got.Messages, "an empty list is [], not null")
			if n := len(test.bodies); n > 0 {
				require.Equal(t, fmt.Sprintf("msg_%d", n-1), got.Messages[len(got.Messages)-1].ID, "the newest is kept, last")
			}
		})
	}
}

func repeat(text string, n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = text
	}
	return all
}

func TestLongLists(t *testing.T) {
	hits := func(n int, title string) string {
		summary := strings.Replace(ticketWith(t, title), `"messages":[]`, `"x":0`, 1)
		return `[` + strings.Join(repeat(summary, n), ",") + `]`
	}
	articles := func(n int, text string) string {
		one, err := json.Marshal(map[string]string{"id": "a#1", "title": "A", "text": text})
		require.NoError(t, err)
		return `{"articles":[` + strings.Join(repeat(string(one), n), ",") + `]}`
	}
	for name, test := range map[string]struct {
		tool, answer string
		hits         int
		note         string
	}{
		"more pages":       {"search_tickets", `{"total":57,"next_cursor":"c","tickets":` + hits(20, "x") + `}`, 20, "Shown: the first 20 of 57 tickets. Narrow the search to see others."},
		"limit ignored":    {"search_tickets", `{"total":25,"next_cursor":null,"tickets":` + hits(25, "x") + `}`, 20, "Shown: the first 20 of 25 tickets. Narrow the search to see others."},
		"huge titles":      {"search_tickets", `{"total":20,"next_cursor":null,"tickets":` + hits(20, strings.Repeat("\u2028", 5000)) + `}`, 20, ""},
		"all":              {"search_tickets", `{"total":20,"next_cursor":null,"tickets":` + hits(20, "x") + `}`, 20, ""},
		"more articles":    {"search_help", articles(21, "x"), 20, "Shown: the best 20 of at least 21 articles. Narrow the search to see others."},
		"long articles":    {"search_help", articles(10, strings.Repeat("x", 5000)), 3, "Shown: the best 3 of at least 10 articles. Narrow the search to see others."},
		"one huge article": {"search_help", articles(1, strings.Repeat("x", 50_000)), 1, "Long articles are cut where marked."},
		"all articles":     {"search_help", articles(20, "x"), 20, ""},
	} {
		t.Run(name, func(t *testing.T) {
			result, err := call(answering(200, test.answer).client(t), test.tool, `{"query":"sso"}`)
			require.NoError(t, err)
			requireSuccess(t, test.tool, result)
			var got struct {
				Note              string
				Shortened         bool
				Tickets, Articles []json.RawMessage
			}
			require.NoError(t, json.Unmarshal(result.RawStructuredContent, &got))
			require.Equal(t, test.note, got.Note)
			require.Equal(t, test.note != "", got.Shortened)
			require.Len(t, append(got.Tickets, got.Articles...), test.hits)
		})
	}
}

func TestInvalidUTF8FromKitebase(t *testing.T) {
	answer := strings.Replace(ticketWith(t, "x", "caf#"), "#", "\xe9\xff", 1)
	result, err := call(answering(200, answer).client(t), "get_ticket", `{"ticket_id":"KITE-1"}`)
	require.NoError(t, err)
	require.Contains(t, requireSuccess(t, "get_ticket", result), "caf\uFFFD\uFFFD")
}

func TestReplyResultLooksLikeADirectOne(t *testing.T) {
	direct, err := call(answering(201, `{"reply_id":"rpl_001","sent_to":"Northwind Studio","created_at":"`+instant+`"}`).client(t),
		"reply_to_customer", `{"ticket_id":"KITE-142","message":"Hello"}`)
	require.NoError(t, err)
	at, err := time.Parse(time.RFC3339, instant)
	require.NoError(t, err)
	found := tools.ReplyResult(
		kitebase.Ticket{ID: "KITE-142", Customer: kitebase.Customer{Name: "Northwind Studio"}},
		kitebase.Message{ID: "rpl_001", Author: "agent", Body: "Hello", CreatedAt: at})
	require.Equal(t, requireSuccess(t, "reply_to_customer", direct), requireSuccess(t, "reply_to_customer", found))
}
