package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/kitebase/kitebase-mcp/client_example/agent"
)

// transcript prints a run as it goes:
//
//	[1] get_ticket {"ticket_id": "KITE-142"}
//	    -> {"id": "KITE-142", "title": "Customer locked out after SSO change", ...
type transcript struct {
	screen  *screen
	running []string // tools, since the last result
}

func (t *transcript) write(event agent.Event) {
	t.screen.idle()
	if _, more := event.(agent.Calling); !more {
		t.running = nil
	}
	switch e := event.(type) {
	case agent.Asking:
		t.screen.busy("thinking")
	case agent.Said:
		fmt.Fprintf(t.screen, "[%d] %s\n", e.Step, oneLine(e.Text))
	case agent.Calling:
		fmt.Fprintf(t.screen, "[%d] %s %s\n", e.Step, e.Use.Name, oneLine(string(e.Use.Input)))
		t.running = append(t.running, e.Use.Name)
		t.screen.busy(strings.Join(t.running, ", "))
	case agent.Called:
		t.result(e.Result)
	case agent.CutOff:
		fmt.Fprintf(t.screen, "[%d] cut off at max_tokens=%d. Redoing the turn with %d.\n", e.Step, e.MaxTokens, e.Next)
	case agent.Pause:
		fmt.Fprintf(t.screen, "[%d] paused. Going on with the turn.\n", e.Step)
	}
}

// result prints errors whole, since the model acts on their last words too.
func (t *transcript) result(result agent.Result) {
	if result.IsError {
		fmt.Fprintf(t.screen, "    -> %s %s\n", t.screen.paint(red, "is_error:"), oneLine(result.Text))
		return
	}
	fmt.Fprintf(t.screen, "    -> %s\n", shorten(oneLine(result.Text)))
}

// width is how much of a result is shown, in characters: with the arrow and the dots a line of about 100.
const width = 90

// shorten cuts text at its last comma within the width, so that what is shown is whole; at the width itself if that would
// show less than half of it.
func shorten(text string) string {
	runes := []rune(text)
	if len(runes) <= width+len("...") {
		return text
	}
	text = string(runes[:width])
	if comma := strings.LastIndex(text, ", "); comma > len(text)/2 {
		text = text[:comma+len(", ")]
	}
	return text + "..."
}

// oneLine puts lines one after the other and gives those that are JSON their spaces.
func oneLine(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, spaced(line))
		}
	}
	return strings.Join(lines, " ")
}

// spaced writes JSON with a space after each comma and colon, and leaves any other text alone. It works on the text,
// since decoding would lose the order in which the server wrote the members.
func spaced(text string) string {
	if !json.Valid([]byte(text)) {
		return text
	}
	var out strings.Builder
	inString, escaped := false, false
	for i := range len(text) {
		c := text[i]
		switch {
		case escaped:
			escaped = false
		case inString && c == '\\':
			escaped = true
		case c == '"':
			inString = !inString
		case !inString && strings.IndexByte(" \t\r\n", c) >= 0:
			continue
		}
		out.WriteByte(c)
		if !inString && (c == ',' || c == ':') {
			out.WriteByte(' ')
		}
	}
	return out.String()
}
