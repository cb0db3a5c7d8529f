package main_test

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
)

// schemas are the output schemas by tool, as tools/list tells them.
type schemas map[string]*jsonschema.Schema

// outputSchemas asks the server for its tools.
func outputSchemas(t *testing.T, c *child) schemas {
	t.Helper()
	var listed struct {
		Tools []struct {
			Name         string          `json:"name"`
			OutputSchema json.RawMessage `json:"outputSchema"`
		} `json:"tools"`
	}
	require.NoError(t, json.Unmarshal(c.ask("tools/list", "{}"), &listed))
	found := schemas{}
	for _, tool := range listed.Tools {
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(tool.OutputSchema))
		require.NoError(t, err)
		compiler := jsonschema.NewCompiler()
		require.NoError(t, compiler.AddResource(tool.Name+".json", document))
		found[tool.Name], err = compiler.Compile(tool.Name + ".json")
		require.NoError(t, err)
	}
	return found
}

// check holds a result to what every result must be: a success that meets its schema and tells the same twice, or a
// failure in words.
func (s schemas) check(t *testing.T, tool string, r result) {
	t.Helper()
	if r.IsError {
		requireWords(t, tool, r)
		return
	}
	require.Nil(t, r.Meta.Error, "a success with an error in its _meta")
	require.NotEmpty(t, r.Structured)
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(r.Structured))
	require.NoError(t, err)
	require.NoError(t, s[tool].Validate(document), "structuredContent against the output schema")

	note, _ := document.(map[string]any)["note"].(string)
	object := r.text()
	if note != "" {
		var found bool
		object, found = strings.CutPrefix(object, note+"\n")
		require.True(t, found, "the text does not begin with the note: %s", r.text())
	}
	require.JSONEq(t, string(r.Structured), object, "text and structuredContent differ")
}

// unfit are what a text for a model must not hold: addresses, markup, Go, and what the fake wrote into its answers.
var unfit = regexp.MustCompile(`(?i)https?:|127\.0\.0\.1|localhost|<[a-z!/]|&\{|map\[|%!|0x[0-9a-f]{4}|\bEOF\b|<nil>|goroutine|` +
	`context (deadline|canceled)|dial tcp|\.go:|injected|switched on|went wrong|right back|sign.?in`)

// requireWords holds the text of a failure to the rules for texts that a model reads, and its _meta to the vocabulary.
func requireWords(t *testing.T, tool string, r result) {
	t.Helper()
	text := r.text()
	require.Empty(t, r.Structured, "strict clients hold it against the output schema and hide the error")
	require.True(t, strings.HasPrefix(text, "Error: "), text)
	require.Less(t, len(text), 600, text)
	require.True(t, utf8.ValidString(text), text)
	require.NotContains(t, text, "\n")
	require.NotRegexp(t, unfit, text)
	if !regexp.MustCompile(`^Error: No ticket KITE-\d+\. Ticket ids look like KITE-142\.$`).MatchString(text) {
		require.Contains(t, text, tool)
	}
	require.NotNil(t, r.Meta.Error, "a failure without an error in its _meta")
	require.Contains(t, []string{"change_input", "other_tool", "wait", "check", "person"}, r.Meta.Error.Next)
	require.Contains(t, []string{"done", "not_done", "unknown"}, r.Meta.Error.Outcome)
	if r.Meta.Error.Attempts > 0 && strings.Contains(text, " failed after ") {
		require.Contains(t, text, tries(r.Meta.Error.Attempts)+":", text)
	}
}

func tries(n int) string {
	if n == 1 {
		return "after 1 try"
	}
	return "after " + string(rune('0'+n)) + " tries"
}

// requireTrue compares what a reply's result claims with the emails that went out for its ticket.
func requireTrue(t *testing.T, r result, emails []string) {
	t.Helper()
	if !r.IsError {
		require.Contains(t, emails, r.reply(t).ReplyID, "told as sent, but no such email went out")
		return
	}
	switch r.Meta.Error.Outcome {
	case "not_done":
		require.Empty(t, emails, "told as not done, but an email went out: %s", r.text())
	case "done":
		require.NotEmpty(t, emails, "told as done, but no email went out: %s", r.text())
	default:
		require.Regexp(t, `may have gone through|unconfirmed`, r.text())
		require.Equal(t, "check", r.Meta.Error.Next)
	}
}
