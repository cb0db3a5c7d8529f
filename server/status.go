package server

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/kitebase/kitebase-mcp/server/resilience"
)

// statusURI is where people and clients read how Kitebase is doing. Models are told by the refusals of the tools instead.
const statusURI = "kitebase://status"

// status is the state of things as this process sees them. It holds no argument, no text of a ticket and no secret.
type status struct {
	At time.Time `json:"at"`
	// WindowSeconds is how far back the counts reach.
	WindowSeconds int `json:"window_seconds"`
	// RetriesPaused says that nothing is retried, because Kitebase fails broadly.
	RetriesPaused bool `json:"retries_paused"`
	// OpenUnknowns counts the writes of which nobody knows whether they happened; null if that cannot be said.
	OpenUnknowns *int         `json:"open_unknowns"`
	Tools        []toolStatus `json:"tools"`
}

type toolStatus struct {
	Tool    string                  `json:"tool"`
	Circuit resilience.CircuitState `json:"circuit"`
	// Since is when the circuit came to stand so; the start of the server if it never changed.
	Since time.Time `json:"since"`
	// NextProbe is when the next call is let through, null unless the circuit is open.
	NextProbe *time.Time `json:"next_probe_at"`
	// Hidden says that tools/list leaves the tool out.
	Hidden bool `json:"hidden"`

	Calls          int                     `json:"calls"`
	Failures       int                     `json:"failures"`
	FailuresByKind map[resilience.Kind]int `json:"failures_by_kind"`
	SuccessRate    *float64                `json:"success_rate"` // see counts.successRate
	Attempts       int                     `json:"attempts"`
	Copies         int                     `json:"answered_from_copies"`
	Repeats        repeats                 `json:"repeats"`
}

// addStatus makes the status a resource.
func (s *Server) addStatus() {
	s.mcp.AddResource(mcp.NewResource(statusURI, "status",
		mcp.WithResourceTitle("State of Kitebase"),
		mcp.WithResourceDescription("How the calls of each tool went in the last minutes, which tools are refused for now and "+
			"until when, and how many replies are unconfirmed; as JSON and as text for people."),
		mcp.WithMIMEType("application/json"),
	), s.readStatus)
}

func (s *Server) readStatus(ctx context.Context, _ mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
	now := s.status(ctx)
	var object bytes.Buffer
	encoder := json.NewEncoder(&object)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(now); err != nil {
		return nil, err // only for a value that is no JSON, and it has none
	}
	return []mcp.ResourceContents{
		mcp.TextResourceContents{URI: statusURI, MIMEType: "application/json", Text: string(bytes.TrimSpace(object.Bytes()))},
		mcp.TextResourceContents{URI: statusURI, MIMEType: "text/plain", Text: now.text()},
	}, nil
}

func (s *Server) status(ctx context.Context) status {
	now := status{
		At: second(time.Now()), WindowSeconds: int(tallyFor.Seconds()),
		RetriesPaused: s.budget.Exhausted(), OpenUnknowns: s.openUnknowns(ctx),
	}
	for _, name := range s.names {
		now.Tools = append(now.Tools, s.toolStatus(name))
	}
	return now
}

func (s *Server) toolStatus(name string) toolStatus {
	circuit, counted := s.circuits[name].Status(), s.tallies.of(name)
	tool := toolStatus{
		Tool: name, Circuit: circuit.State, Since: second(s.tallies.began), Hidden: s.hides(circuit),
		Calls: counted.calls, Failures: counted.failed(), FailuresByKind: counted.failures, SuccessRate: counted.successRate(),
		Attempts: counted.attempts, Copies: counted.copies, Repeats: counted.repeats,
	}
	if !circuit.Since.IsZero() {
		tool.Since = second(circuit.Since)
	}
	if !circuit.ProbeAt.IsZero() {
		at := second(circuit.ProbeAt)
		tool.NextProbe = &at
	}
	return tool
}

func second(at time.Time) time.Time { return at.UTC().Truncate(time.Second) }
