package lab

// What an answer claims stands in this file. Who tells it in a field is taken at that word; of everybody else the form
// (isError) is read first and then the text (wording.go), always in favour of the server: words that leave it open make no claim.

import (
	"encoding/json"
	"strings"
)

// said is an answer as it came.
type said struct {
	form       Answer
	text       string // all text blocks, or the message of a protocol error
	structured json.RawMessage
	empty      bool   // it has neither content nor structured content
	wire       string // the whole result
	outcome    string // of _meta["io.kitebase/error"]
	replayed   bool   // of _meta or the structured content
}

// read takes an answer apart.
func read(m message) said {
	if m.Error != nil {
		return said{form: AnswerProtocol, text: m.Error.Message}
	}
	var result struct {
		IsError bool `json:"isError"`
		Content []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
		Structured json.RawMessage `json:"structuredContent"`
		Meta       struct {
			Replayed bool `json:"io.kitebase/replayed"`
			Error    struct {
				Outcome string `json:"outcome"`
			} `json:"io.kitebase/error"`
		} `json:"_meta"`
	}
	if json.Unmarshal(m.Result, &result) != nil || string(m.Result) == "null" {
		return said{form: AnswerProtocol, text: "the result is no result of a tool call"}
	}
	s := said{form: AnswerResult, structured: result.Structured, outcome: result.Meta.Error.Outcome, replayed: result.Meta.Replayed,
		empty: len(result.Content) == 0 && len(result.Structured) == 0, wire: string(m.Result)}
	if result.IsError {
		s.form = AnswerError
	}
	var texts []string
	for _, block := range result.Content {
		if block.Type == "text" {
			texts = append(texts, block.Text)
		}
	}
	s.text = strings.Join(texts, "\n")
	var marks struct {
		AlreadySent bool `json:"already_sent"`
	}
	if json.Unmarshal(s.structured, &marks) == nil && marks.AlreadySent { // it need not be an object
		s.replayed = true
	}
	return s
}

// claim returns what the answer says of the change. A server that tells the outcome in its field is taken at that word, whatever
// the form of its answer.
func (s said) claim() Claim {
	switch {
	case s.form == AnswerNone:
		return ""
	case s.outcome == "not_done":
		return ClaimsFailed
	case s.outcome == "unknown":
		return ClaimsUnknown
	case s.outcome == "done" || s.form == AnswerResult:
		if s.replayed || tellsBefore(s.text) {
			return ClaimsAlready
		}
		return ClaimsSent
	case tellsDoubt(s.text):
		return ClaimsUnknown
	case tellsBefore(s.text):
		return ClaimsAlready
	case tellsHeldBack(s.text):
		return ClaimsUnknown
	default:
		return ClaimsFailed
	}
}
