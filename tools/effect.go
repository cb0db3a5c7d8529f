package tools

import "github.com/mark3labs/mcp-go/mcp"

// Effect says what a call of a tool does to Kitebase, in the terms of RFC 9110 section 9.2. It decides whether a call
// may be repeated: the layers of the server read it from the annotations that [Effect.Annotations] makes of it.
type Effect uint8

const (
	// Reads is safe: nothing changes, repeating is free.
	Reads Effect = iota
	// Sets is idempotent: a second identical call changes nothing more.
	Sets
	// Sends is neither: every call reaches a person.
	Sends
)

// String returns the word that the documentation uses: reads, sets or sends.
func (e Effect) String() string {
	switch e {
	case Reads:
		return "reads"
	case Sets:
		return "sets"
	default:
		return "sends"
	}
}

// Annotations returns the hints by which hosts decide about permission and repetition. All four are set, because the
// protocol's defaults call every tool destructive and open-world. A sent email counts as destructive: it cannot be
// taken back, so hosts that ask before destructive tools should ask here. Only sending leaves the help desk.
func (e Effect) Annotations(title string) mcp.ToolAnnotation {
	return mcp.ToolAnnotation{
		Title:           title,
		ReadOnlyHint:    new(e == Reads),
		IdempotentHint:  new(e != Sends),
		DestructiveHint: new(e == Sends),
		OpenWorldHint:   new(e == Sends),
	}
}
