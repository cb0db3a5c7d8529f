package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/client_example/agent"
)

// runLive runs the program with an environment of its own.
func runLive(t *testing.T, env []string, args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	err := run(t.Context(), append([]string{"-live", "-server", server}, args...), env, strings.NewReader(""), &stdout, &stderr)
	got := result{stdout.String(), stderr.String(), err}
	requireNoSecret(t, got)
	return got
}

const (
	thought  = `{"type":"thinking","thinking":"Let me see.","signature":"c2ln"}`
	redacted = `{"type":"redacted_thinking","data":"eA=="}`
)

func TestClaudeHandlesATicket(t *testing.T) {
	reply := `{"ticket_id": "KITE-101", "message": "Try <this> & that."}`
	api := newMessagesAPI(t,
		turned("tool_use", thought, redacted, textBlock("I read it."), textBlock(""), useBlock("toolu_a", "get_ticket", `{"ticket_id": "KITE-101"}`)),
		turned("tool_use", useBlock("toolu_b", "search_help", `{"query": "sso"}`), useBlock("toolu_c", "search_help", `{"query": "login"}`)),
		turned("tool_use", useBlock("toolu_d", "reply_to_customer", reply)),
		turned("end_turn", textBlock("I answered.")),
	)
	got := runLive(t, api.env(), "-ticket", "KITE-101", "-attempts", "1", "slow", "-json")
	require.NoError(t, got.err)
	var told struct {
		Ending   string
		Requests map[string]int
		Report   struct {
			Message string
			Tokens  struct{ Input, Output int }
			Cost    float64 `json:"cost_usd"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &told))
	require.Equal(t, "DONE (end_turn) after 4 step(s), 1 email(s) sent", told.Ending)
	require.Equal(t, "Done.\nChanges made: a reply was sent: rpl_001.", told.Report.Message)
	require.Equal(t, 4*1010, told.Report.Tokens.Input, "cached tokens are tokens")
	require.InDelta(t, 4*(1010*4.0+100*20)/1e6, told.Report.Cost, 1e-9)

	asked := api.asked()
	require.Len(t, asked, 4)
	first, second := asked[0], asked[1]
	require.Equal(t, "claude-opus-5-5", first.Model)
	require.Equal(t, liveMaxTokens, first.MaxTokens)
	require.Contains(t, first.System[0].Text, "help desk Kitebase", "the server's instructions")
	require.Equal(t, taskFor("KITE-101"), first.Messages[0].Content[0].Text)
	require.Len(t, first.Tools, 5)
	for _, tool := range first.Tools {
		require.NotEmpty(t, tool.Description)
		require.Contains(t, string(tool.InputSchema), `"properties"`)
	}

	said := second.Messages[1].Content
	require.Len(t, said, 4, "what was thought goes back with its signature, empty text stays out")
	require.Equal(t, "c2ln", said[0].Signature)
	require.Equal(t, "redacted_thinking", said[1].Type)
	result := second.Messages[2].Content[0]
	require.True(t, result.IsError, "get_ticket hangs in scenario slow")
	require.Regexp(t, `^Error: get_ticket failed after 1 try: no response after 0\.\d+s`, result.Content[0].Text)
	require.Len(t, asked[2].Messages[4].Content, 2, "one message with both results")
}

// TestSchemasReachClaudeWhole: keywords that the SDK does not know must not get lost on the way.
func TestSchemasReachClaudeWhole(t *testing.T) {
	schema := `{"type":"object","properties":{"a":{"type":"string","pattern":"^x"}},"required":["a"],"additionalProperties":false}`
	c, err := newClaude(defaultModel, []string{"ANTHROPIC_API_KEY=" + secret})
	require.NoError(t, err)
	params, err := c.params(agent.Request{Tools: []agent.Tool{{Name: "a", InputSchema: json.RawMessage(schema)}}})
	require.NoError(t, err)
	text, err := json.Marshal(params.Tools[0].OfTool.InputSchema)
	require.NoError(t, err)
	require.JSONEq(t, schema, string(text))
}

func TestStopReasonsOnTheWire(t *testing.T) {
	done := turned("end_turn", textBlock("Done."))
	for name, test := range map[string]struct {
		answers []http.HandlerFunc
		ending  string
	}{
		"end_turn":              {[]http.HandlerFunc{done}, "DONE (end_turn) after 1 step(s), 0 email(s) sent"},
		"end_turn with no text": {[]http.HandlerFunc{turned("end_turn")}, "DONE (end_turn) after 1 step(s), 0 email(s) sent"},
		"stop_sequence":         {[]http.HandlerFunc{turned("stop_sequence", textBlock("Done."))}, "DONE (stop_sequence) after 1 step(s), 0 email(s) sent"},
		"max_tokens once":       {[]http.HandlerFunc{turned("max_tokens", textBlock("I am")), done}, "DONE (end_turn) after 2 step(s), 0 email(s) sent"},
		"max_tokens":            {[]http.HandlerFunc{turned("max_tokens", thought)}, "FAILED (cut_off) after 2 step(s), 0 email(s) sent"},
		"pause_turn":            {[]http.HandlerFunc{turned("pause_turn", textBlock("I am")), turned("tool_use", useBlock("a", "get_ticket", `{}`)), done}, "DONE (end_turn) after 3 step(s), 0 email(s) sent"},
		"refusal":               {[]http.HandlerFunc{turned("refusal")}, "FAILED (refusal) after 1 step(s), 0 email(s) sent"},
		"the context is full":   {[]http.HandlerFunc{turned("model_context_window_exceeded", textBlock("I"))}, "FAILED (context_window) after 1 step(s), 0 email(s) sent"},
		"one not yet invented":  {[]http.HandlerFunc{turned("moon_phase", textBlock("I"))}, "FAILED (unexpected_stop) after 1 step(s), 0 email(s) sent"},
	} {
		t.Run(name, func(t *testing.T) {
			got := runLive(t, newMessagesAPI(t, test.answers...).env())
			require.Equal(t, test.ending, lastLineOf(got.stdout))
			if strings.HasPrefix(test.ending, "FAILED") {
				require.ErrorIs(t, got.err, errHandedOver)
			} else {
				require.NoError(t, got.err)
			}
		})
	}
}

func lastLineOf(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

func TestClaudeIsUnavailable(t *testing.T) {
	again := "Retry-After-Ms: 1"
	for name, test := range map[string]struct {
		answer http.HandlerFunc
		tries  int
		cause  string
	}{
		"429":                       {refused(429, "rate_limit_error", "Retry-After: 0"), 3, "ask Claude: it answered 429 (rate_limit_error): no luck with (key), request req_1"},
		"429 for longer than a run": {refused(429, "rate_limit_error", "Retry-After: 3600"), 1, "ask Claude: it answered 429 (rate_limit_error): no luck with (key), request req_1"},
		"429 until a far date":      {refused(429, "rate_limit_error", "Retry-After: Fri, 31 Dec 2100 23:59:59 GMT"), 1, "ask Claude: it answered 429 (rate_limit_error): no luck with (key), request req_1"},
		"529":                       {refused(529, "overloaded_error", again), 3, "ask Claude: it answered 529 (overloaded_error): no luck with (key), request req_1"},
		"500":                       {refused(500, "api_error", again), 3, "ask Claude: it answered 500 (api_error): no luck with (key), request req_1"},
		"500 of a proxy": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After-Ms", "1")
			http.Error(w, "<html>"+secret, http.StatusBadGateway)
		}, 3, "ask Claude: it answered 502"},
		"a wrong key":                {refused(401, "authentication_error"), 1, "ask Claude: it answered 401 (authentication_error): no luck with (key), request req_1; check ANTHROPIC_API_KEY"},
		"a wrong model":              {refused(404, "not_found_error"), 1, "ask Claude: it answered 404 (not_found_error): no luck with (key), request req_1; check -model, which is claude-opus-5-5"},
		"a web page":                 {written("text/html", "<html>"+secret), 1, "ask Claude: no answer that can be read: "},
		"half an answer":             {written("application/json", `{"id":"msg_1","type":"mess`), 1, "ask Claude: no answer that can be read: "},
		"JSON that is not an answer": {written("application/json", `{"hello":"there"}`), 1, "read what Claude answered: it is not a message of the assistant with a stop reason"},
		"a cut connection":           {cut, 2, "ask Claude: no answer that can be read: EOF"},
		"no answer":                  {slow, 2, "ask Claude: no answer in time"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api := newMessagesAPI(t, test.answer)
			var options []option.RequestOption
			if test.tries == 2 { // those without a header wait for real
				options = append(options, option.WithMaxRetries(1), option.WithRequestTimeout(100*time.Millisecond))
			}
			c, err := newClaude(defaultModel, api.env(), append(options, option.WithHTTPClient(api.Client()))...)
			require.NoError(t, err)
			var stdout bytes.Buffer
			d := testDriver(t, &stdout)
			d.live = c
			outcomes, err := d.driveAll(t.Context(), deskScenarios()[:1])
			require.NoError(t, err)
			require.ErrorIs(t, d.judge(outcomes), errHandedOver)
			requireNoSecret(t, result{stdout: stdout.String()})
			require.Len(t, api.asked(), test.tries)
			require.True(t, strings.HasPrefix(strings.TrimSpace(stdout.String()), test.cause), "%s", stdout.String())
			require.True(t, strings.HasSuffix(stdout.String(), `
I couldn't finish this: Claude could not be reached.
Changes made: none, nothing was sent to the customer or changed.
A person needs to pick this up.
FAILED (model_unavailable) after 1 step(s), 0 email(s) sent
`), "%s", stdout.String())
		})
	}
}

// TestClaudeGoesAwayAfterTheReply: what was sent before is in the note.
func TestClaudeGoesAwayAfterTheReply(t *testing.T) {
	api := newMessagesAPI(t,
		turned("tool_use", useBlock("a", "reply_to_customer", `{"ticket_id": "KITE-142", "message": "Hello."}`)),
		refused(529, "overloaded_error", "Retry-After-Ms: 1"))
	got := runLive(t, api.env(), "duplicate")
	require.ErrorIs(t, got.err, errHandedOver)
	require.Contains(t, got.stdout, "Changes made: a reply was sent: rpl_001.\n")
	require.Equal(t, "FAILED (model_unavailable) after 2 step(s), 1 email(s) sent", lastLineOf(got.stdout))
}
