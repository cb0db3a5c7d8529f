package main

import (
	"encoding/json"
	"io"

	"github.com/kitebase/kitebase-mcp/client_example/agent"
)

// document is an outcome as machines read it. Emails and requests are counted at the help desk.
type document struct {
	Scenario string         `json:"scenario"`
	Ending   string         `json:"ending"`
	Listed   string         `json:"listed_ending"`
	Emails   *int           `json:"emails"` // null where nobody could count, as the requests are
	Requests map[string]int `json:"requests"`
	Report   agent.Report   `json:"report"`
}

func documentOf(o outcome) document {
	d := document{Scenario: o.scenario.name, Ending: o.ending(), Listed: o.scenario.ending, Requests: o.requests, Report: o.report}
	if o.emails != uncounted {
		d.Emails = &o.emails
	}
	return d
}

// writeDocument writes one outcome as an object, several as a list.
func writeDocument(w io.Writer, outcomes []outcome) error {
	var documents []document
	for _, o := range outcomes {
		documents = append(documents, documentOf(o))
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	if len(documents) == 1 {
		return encoder.Encode(documents[0])
	}
	return encoder.Encode(documents)
}
