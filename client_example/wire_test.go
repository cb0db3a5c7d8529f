package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// wireMessage is a message as the Messages API takes it.
type wireMessage struct {
	Role    string      `json:"role"`
	Content []wireBlock `json:"content"`
}

type wireBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	IsError   bool            `json:"is_error"`
	Content   []wireBlock     `json:"content"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
}

// pairing holds a conversation to the rules whose breach the Messages API answers with a 400: the user begins
// it and never speaks twice in a row; the assistant ends it only with a turn that was paused, so without calls; no message and no text is empty; ids of calls are used once, and input is an object; the message
// after calls begins with one result for each, and results stand nowhere else.
func pairing(conversation []wireMessage) error {
	if len(conversation) == 0 || conversation[0].Role != "user" {
		return errors.New("the conversation does not begin with the user")
	}
	var open, seen []string
	for i, message := range conversation {
		if i > 0 && message.Role == "user" && conversation[i-1].Role == "user" {
			return fmt.Errorf("message %d: the user speaks twice in a row", i)
		}
		var answered, asked []string
		for n, block := range message.Content {
			if err := block.check(message.Role); err != nil {
				return fmt.Errorf("message %d, block %d: %w", i, n, err)
			}
			switch block.Type {
			case "tool_result":
				if n != len(answered) {
					return fmt.Errorf("message %d, block %d: a result behind something else", i, n)
				}
				answered = append(answered, block.ToolUseID)
			case "tool_use":
				if slices.Contains(seen, block.ID) {
					return fmt.Errorf("message %d: the id %q is used twice", i, block.ID)
				}
				asked, seen = append(asked, block.ID), append(seen, block.ID)
			}
		}
		slices.Sort(open)
		slices.Sort(answered)
		if !slices.Equal(open, answered) {
			return fmt.Errorf("message %d answers the calls %q, but open are %q", i, answered, open)
		}
		if len(message.Content) == 0 {
			return fmt.Errorf("message %d is empty", i)
		}
		open = asked
	}
	if len(open) > 0 {
		return fmt.Errorf("the last calls %q have no results", open)
	}
	return nil
}

func (b wireBlock) check(role string) error {
	var object map[string]any
	switch {
	case b.Type == "text" && b.Text == "":
		return errors.New("an empty text")
	case b.Type == "tool_use" && (b.ID == "" || json.Unmarshal(b.Input, &object) != nil || object == nil):
		return errors.New("a call without an id, or whose input is no object")
	case (b.Type == "tool_result") && role != "user", (b.Type == "tool_use" || b.Type == "thinking") && role != "assistant":
		return fmt.Errorf("a %s of the %s", b.Type, role)
	}
	return nil
}
