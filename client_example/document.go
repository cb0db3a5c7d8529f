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
	Emails   int            `json:"emails"`
	Requests map[string]int `json:"requests"`
	Report   agent.Report   `json:"report"`
}

// writeDocument writes one outcome as an object, several as a list.
func writeDocument(w io.Writer, outcomes []outcome) error {
	var documents []document
	for _, o := range outcomes {
		documents = append(documents, document{o.scenario.name, o.ending(), o.scenario.ending, o.emails, o.requests, o.report})
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	if len(documents) == 1 {
		return encoder.Encode(documents[0])
	}
	return encoder.Encode(documents)
}
