package agent

import (
	"encoding/json"
	"math"
)

// document is a [Report] as machines read it.
type document struct {
	Reason     Reason     `json:"reason"`
	Succeeded  bool       `json:"succeeded"`
	Message    string     `json:"message"`
	Text       string     `json:"text"`
	StopReason StopReason `json:"stop_reason"`
	Changes    []Change   `json:"changes"`
	Steps      int        `json:"steps"`
	Seconds    float64    `json:"seconds"`
	Tokens     struct {
		Input  int `json:"input"`
		Output int `json:"output"`
	} `json:"tokens"`
	CostUSD float64 `json:"cost_usd"`
	Error   string  `json:"error,omitempty"`
}

// MarshalJSON writes the report as one document, with the time in seconds to the millisecond and the [Report.Message]. The
// conversation is left out.
func (r Report) MarshalJSON() ([]byte, error) {
	d := document{
		Reason:     r.Reason,
		Succeeded:  r.Succeeded(),
		Message:    r.Message(),
		Text:       r.Text,
		StopReason: r.StopReason,
		Changes:    append([]Change{}, r.Changes...), // none is [], not null
		Steps:      r.Steps,
		Seconds:    math.Round(r.Elapsed.Seconds()*1000) / 1000,
		CostUSD:    r.Usage.CostUSD,
	}
	d.Tokens.Input, d.Tokens.Output = r.Usage.InputTokens, r.Usage.OutputTokens
	if r.Err != nil {
		d.Error = r.Err.Error()
	}
	return json.Marshal(d)
}
