package main_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// answer is one line that the server wrote.
type answer struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`

	line   string
	broken string // the line, if it is no JSON-RPC message
}

func readAnswer(line string) answer {
	var a answer
	if err := json.Unmarshal([]byte(line), &a); err != nil || a.JSONRPC != "2.0" || !strings.HasSuffix(line, "\n") {
		a.broken = line
	}
	a.line = strings.TrimSuffix(line, "\n")
	return a
}

// result is the result of a tool call.
type result struct {
	IsError bool `json:"isError"`
	Content []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"content"`
	Structured json.RawMessage `json:"structuredContent"`
	Meta       struct {
		Attempts *int       `json:"io.kitebase/attempts"`
		Replayed bool       `json:"io.kitebase/replayed"`
		Error    *errorInfo `json:"io.kitebase/error"`
	} `json:"_meta"`
}

// errorInfo is what programs read of a failure. It is written down here once more on purpose: a struct shared with the
// server could not disagree with it.
type errorInfo struct {
	Kind         string `json:"kind"`
	Attempts     int    `json:"attempts"`
	ModelCanFix  bool   `json:"model_can_fix"`
	Next         string `json:"next"`
	RetryAfterMS int64  `json:"retry_after_ms"`
	Outcome      string `json:"outcome"`
}

// sent are the fields of a reply that the tests look at.
type sent struct {
	ReplyID     string `json:"reply_id"`
	Note        string `json:"note"`
	AlreadySent bool   `json:"already_sent"`
	FirstSentAt string `json:"first_sent_at"`
}

// result reads the answer to a tool call: a JSON-RPC error would show a host a crash.
func (a answer) result(t *testing.T) result {
	t.Helper()
	require.Nil(t, a.Error, "a tool call was answered by a JSON-RPC error: %s", a.line)
	var r result
	require.NoError(t, json.Unmarshal(a.Result, &r))
	require.Len(t, r.Content, 1)
	require.Equal(t, "text", r.Content[0].Type)
	return r
}

func (r result) text() string { return r.Content[0].Text }

// kind returns the kind of a failure, "ok" for none.
func (r result) kind() string {
	if r.Meta.Error == nil {
		return "ok"
	}
	return r.Meta.Error.Kind
}

// attempts returns the number of attempts that the result tells.
func (r result) attempts(t *testing.T) int {
	t.Helper()
	if r.IsError {
		require.NotNil(t, r.Meta.Error)
		return r.Meta.Error.Attempts
	}
	require.NotNil(t, r.Meta.Attempts)
	return *r.Meta.Attempts
}

// reply reads the object of a reply that was sent.
func (r result) reply(t *testing.T) sent {
	t.Helper()
	require.False(t, r.IsError, r.text())
	var s sent
	require.NoError(t, json.Unmarshal(r.Structured, &s))
	return s
}
