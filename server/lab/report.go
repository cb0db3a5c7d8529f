package lab

import (
	"encoding/json"
	"io"
	"slices"
	"strings"
)

// Report is the score card of one server with all that led to it.
type Report struct {
	Command []string `json:"command"`
	// CallLimitMS is how long a call could take before it counted as unanswered.
	CallLimitMS int64 `json:"call_limit_ms"`
	// Card is the total of the cases that are counted, Keyless that of the others.
	Card    Card `json:"card"`
	Keyless Card `json:"keyless"`
	// Cases are in the order of the catalogue.
	Cases []Result `json:"cases"`
}

// Card are the numbers.
type Card struct {
	Cases       int `json:"cases"`
	Skipped     int `json:"skipped"`
	Duplicates  int `json:"duplicates"`
	FalseSent   int `json:"false_sent"`
	FalseFailed int `json:"false_failed"`
	Unreadable  int `json:"unreadable"`
	Unanswered  int `json:"unanswered"`
	// StrayOutput are cases.
	StrayOutput int `json:"stray_output"`
	// Calls are all calls, Well those with a result.
	Calls int `json:"calls"`
	Well  int `json:"well"`
	// Wanted and Delivered are emails, see [Result].
	Wanted    int `json:"wanted"`
	Delivered int `json:"delivered"`
	// P50MS and MaxMS are times of calls in milliseconds, of those that were answered.
	P50MS float64 `json:"p50_ms"`
	MaxMS float64 `json:"max_ms"`
}

// NewReport adds up what the cases showed. It keeps results.
func NewReport(command []string, results []Result) *Report {
	r := &Report{Command: command, Cases: results}
	var counted, keyless []Result
	for _, each := range results {
		if each.Counted {
			counted = append(counted, each)
		} else {
			keyless = append(keyless, each)
		}
	}
	r.Card, r.Keyless = cardOf(counted), cardOf(keyless)
	return r
}

// cardOf adds results up.
func cardOf(results []Result) Card {
	card := Card{Cases: len(results)}
	var times []float64
	for _, result := range results {
		if result.Skipped != "" {
			card.Skipped++
		}
		card.Wanted += result.Wanted
		card.Delivered += result.Delivered
		for _, finding := range result.Findings {
			*card.of(finding.Kind) += finding.Count
		}
		for _, call := range result.Calls {
			card.Calls++
			if call.Answer == AnswerResult {
				card.Well++
			}
			if call.Answer != AnswerNone {
				times = append(times, call.TookMS)
			}
		}
	}
	slices.Sort(times)
	if len(times) > 0 {
		card.P50MS, card.MaxMS = times[(len(times)-1)/2], times[len(times)-1]
	}
	return card
}

func (c *Card) of(kind Kind) *int {
	switch kind {
	case Duplicate:
		return &c.Duplicates
	case FalseSent:
		return &c.FalseSent
	case FalseFailed:
		return &c.FalseFailed
	case Unreadable:
		return &c.Unreadable
	case StrayOutput:
		return &c.StrayOutput
	default:
		return &c.Unanswered
	}
}

// Findings returns how many there are.
func (c Card) Findings() int {
	return c.Duplicates + c.FalseSent + c.FalseFailed + c.Unreadable + c.Unanswered + c.StrayOutput
}

// Card returns the numbers of one case.
func (r Result) Card() Card { return cardOf([]Result{r}) }

// WriteJSON writes the whole report as one document.
func (r *Report) WriteJSON(w io.Writer) error {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(r); err != nil {
		return err
	}
	_, err := io.WriteString(w, visible(text.String()))
	return err
}
