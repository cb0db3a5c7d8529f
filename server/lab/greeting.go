package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// greet does what a host does at first, and returns the names of the tools.
func (c *child) greet(ctx context.Context) ([]string, error) {
	if _, err := c.ask(ctx, "initialize", hello()); err != nil {
		return nil, fmt.Errorf("it did not answer to initialize: %w", err)
	}
	if err := c.send(ctx, request{Method: "notifications/initialized"}.line()); err != nil {
		return nil, fmt.Errorf("it could not be told that it is initialized: %w", err)
	}
	listed, err := c.ask(ctx, "tools/list", map[string]any{})
	if err != nil {
		return nil, fmt.Errorf("it did not list its tools: %w", err)
	}
	var list struct {
		Tools []struct {
			Name string `json:"name"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(listed, &list); err != nil {
		return nil, errors.New("its list of tools cannot be read")
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	return names, nil
}

// ask sends a request and waits for the answer, which must be a result.
func (c *child) ask(ctx context.Context, method string, params any) (json.RawMessage, error) {
	_, answer, err := c.begin(ctx, method, params)
	if err != nil {
		return nil, err
	}
	m, err := c.await(ctx, answer)
	switch {
	case err != nil:
		return nil, err
	case m.Error != nil:
		return nil, fmt.Errorf("it refused: %s (%d)", shortened(m.Error.Message, 600), m.Error.Code)
	}
	return m.Result, nil
}

// hello is what a host says first. The revision is one that every server of today can speak; it may answer with an older one.
func hello() map[string]any {
	return map[string]any{
		"protocolVersion": "2025-06-18",
		"capabilities":    map[string]any{},
		"clientInfo":      map[string]any{"name": "kitebase-mcp-lab", "version": "1"},
	}
}
