package agent

import "encoding/json"

// Role says who speaks in a [Message].
type Role string

// The two roles of a conversation. The results of tools are spoken by the user.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// Message is one entry of the conversation. In an assistant's message the text comes before the calls; in a user's
// message the results come before the text, since the Messages API refuses them in any other order. Users and
// assistants alternate, except that a turn that the model paused is followed by its continuation, which the API takes as
// one turn.
type Message struct {
	Role    Role         `json:"role"`
	Results []ToolResult `json:"results,omitempty"`
	Text    string       `json:"text,omitempty"`
	Calls   []ToolUse    `json:"calls,omitempty"`
	// Raw is [Turn].Raw of an assistant's message.
	Raw json.RawMessage `json:"raw,omitempty"`
}

// ToolUse is a call that the model asks for. ID is the model's, and unique within the conversation.
type ToolUse struct {
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input,omitempty"`
}

// ToolResult answers the [ToolUse] with the same ID.
type ToolResult struct {
	ID      string `json:"id"`
	Text    string `json:"text"`
	IsError bool   `json:"is_error,omitempty"`
}
