package resilience

import (
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/kitebase/kitebase-mcp/tools/legible"
)

// readable returns result with nothing but legible text in what a model reads of it, its object and its texts, and says so
// in a success from which something was removed. Handlers may have seen to that themselves, before they cut their texts;
// what comes out of a ledger, and what a careless handler returns, meets it here. It does not change result, which others
// may have too.
func readable(result *mcp.CallToolResult) *mcp.CallToolResult {
	object := objectText(result)
	document, changed := legible.JSON(object)
	for _, content := range result.Content {
		if text, ok := content.(mcp.TextContent); ok {
			_, dirty := legible.Text(strings.TrimSuffix(text.Text, object))
			changed = changed || dirty
		}
	}
	if !changed {
		return result
	}
	cleaned := *result
	cleaned.Content = make([]mcp.Content, len(result.Content))
	for i, content := range result.Content {
		if text, ok := content.(mcp.TextContent); ok {
			words, isObject := strings.CutSuffix(text.Text, object)
			if text.Text, _ = legible.Text(words); isObject {
				text.Text += document
			}
			content = text
		}
		cleaned.Content[i] = content
	}
	if object != "" {
		cleaned.RawStructuredContent, cleaned.StructuredContent = []byte(document), nil
	}
	if !result.IsError {
		annotate(&cleaned, mark{Note: legible.Note, Cleaned: true})
	}
	return &cleaned
}

// objectText returns the object of a result as JSON, "" if it has none. As a rule it stands in a text already.
func objectText(result *mcp.CallToolResult) string {
	object := structured(result)
	for _, content := range result.Content {
		text, ok := content.(mcp.TextContent)
		if before := len(text.Text) - len(object); ok && before >= 0 && text.Text[before:] == string(object) {
			return text.Text[before:]
		}
	}
	return string(object)
}
