package lab

// What an answer claims stands in this file. Who tells it in a field is taken at that word; of everybody else the form
// (isError) is read first and then the text, always in favour of the server: words that leave it open make no claim.

import (
	"encoding/json"
	"strings"
)

// said is an answer as it came.
type said struct {
	form       Answer
	text       string // all text blocks, or the message of a protocol error
	structured json.RawMessage
	outcome    string // of _meta["io.kitebase/error"]
	replayed   bool   // of _meta or the structured content
}

// openWords leave open whether a change was made.
func openWords() []string {
	return []string{
		"may have", "might have", "could have", "may already", "might already", "may be sent", "may or may not", "possibly", "perhaps",
		"unconfirmed", "not confirmed", "could not be confirmed", "uncertain", "not certain", "not sure", "unsure", "not known whether",
		"unknown whether", "unknown if", "outcome is unknown", "unknown outcome", "not clear whether", "unclear", "cannot tell", "can't tell",
		"check before", "check whether", "check if", "verify before", "verify whether", "before you repeat", "before retrying", "before you retry",
	}
}

// alreadyWords say that it was made before.
func alreadyWords() []string {
	return []string{
		"already sent", "already been sent", "already delivered", "already been delivered", "already done", "already replied",
		"was sent before", "not sent again", "not made again", "duplicate",
	}
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
	if json.Unmarshal(m.Result, &result) != nil {
		return said{form: AnswerProtocol, text: "the result is no result of a tool call"}
	}
	s := said{form: AnswerResult, structured: result.Structured, outcome: result.Meta.Error.Outcome, replayed: result.Meta.Replayed}
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

// claim returns what the answer says of the change.
func (s said) claim() Claim {
	if s.form == AnswerNone {
		return ""
	}
	if s.form == AnswerResult {
		if s.replayed || has(s.text, alreadyWords()) {
			return ClaimsAlready
		}
		return ClaimsSent
	}
	switch s.outcome {
	case "done":
		return ClaimsSent
	case "not_done":
		return ClaimsFailed
	case "unknown":
		return ClaimsUnknown
	}
	switch {
	case has(s.text, openWords()):
		return ClaimsUnknown
	case has(s.text, alreadyWords()):
		return ClaimsAlready
	default:
		return ClaimsFailed
	}
}

func has(text string, words []string) bool {
	text = strings.ToLower(text)
	for _, word := range words {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}
