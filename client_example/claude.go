package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/kitebase/kitebase-mcp/client_example/agent"
)

// The limits of a run with a real model. It thinks before it speaks, which takes time and room that a script does not need.
const (
	liveDeadline  = 2 * time.Minute
	liveMaxTokens = 8192
	// turnTimeout is for one try of one turn. The SDK's own is 10 minutes, which nobody who waits for a ticket has.
	turnTimeout = 60 * time.Second
)

// defaultModel is what Anthropic advises who is not sure (platform.claude.com/docs/en/models, November 2026).
const defaultModel = anthropic.ModelClaudeOpus5_5

// dollars is the price of a million tokens, input and output, by model (same page, same date). A model that is not listed
// counts as free; the token budget bounds it all the same.
var dollars = map[string][2]float64{
	anthropic.ModelClaudeOpus5_5:   {4, 20},
	anthropic.ModelClaudeSonnet5_5: {2, 10},
}

// claude is a model behind the Messages API. The SDK repeats what failed on the way; no turn has an effect, so that is safe.
type claude struct {
	client anthropic.Client
	key    string // never to be printed
	model  string
	system string
}

// newClaude takes key and base URL from env, and nothing from anywhere else. More options come after its own.
func newClaude(model string, env []string, more ...option.RequestOption) (*claude, error) {
	key := lookup(env, "ANTHROPIC_API_KEY")
	if key == "" {
		return nil, usageError("-live needs ANTHROPIC_API_KEY in the environment")
	}
	options := []option.RequestOption{
		option.WithoutEnvironmentDefaults(), option.WithoutOpenTelemetry(),
		option.WithAPIKey(key), option.WithRequestTimeout(turnTimeout),
	}
	if base := lookup(env, "ANTHROPIC_BASE_URL"); base != "" {
		options = append(options, option.WithBaseURL(base))
	}
	return &claude{client: anthropic.NewClient(append(options, more...)...), key: key, model: model}, nil
}

// lookup returns the value of a variable without white space around it: a key that was pasted with its line end is no header.
func lookup(env []string, name string) string {
	var value string
	for _, pair := range env {
		if v, found := strings.CutPrefix(pair, name+"="); found {
			value = strings.TrimSpace(v) // the last one counts, as in os/exec
		}
	}
	return value
}

// instructed returns the model with a system prompt.
func (c claude) instructed(system string) claude {
	c.system = system
	return c
}

// Next asks for one turn, without streaming.
func (c claude) Next(ctx context.Context, request agent.Request) (agent.Turn, error) {
	params, err := c.params(request)
	if err != nil {
		return agent.Turn{}, fmt.Errorf("ask Claude: %w", err)
	}
	answer, err := c.client.Messages.New(ctx, params, option.WithMiddleware(refuseLongWaits(ctx)))
	if err != nil {
		return agent.Turn{}, fmt.Errorf("ask Claude: %w", c.failure(err))
	}
	turn, err := c.turn(answer)
	if err != nil {
		return turn, fmt.Errorf("read what Claude answered: %w", err)
	}
	return turn, nil
}

func (c claude) params(request agent.Request) (anthropic.MessageNewParams, error) {
	params := anthropic.MessageNewParams{Model: c.model, MaxTokens: int64(request.MaxTokens)}
	if c.system != "" {
		params.System = []anthropic.TextBlockParam{{Text: c.system}}
	}
	for _, tool := range request.Tools {
		p := anthropic.ToolParam{Name: tool.Name, Description: anthropic.String(tool.Description)}
		if err := json.Unmarshal(tool.InputSchema, &p.InputSchema); err != nil {
			return params, fmt.Errorf("read the schema of %s: %w", tool.Name, err)
		}
		params.Tools = append(params.Tools, anthropic.ToolUnionParam{OfTool: &p})
	}
	for _, message := range request.Messages {
		blocks, err := blocksOf(message)
		if err != nil {
			return params, err
		}
		params.Messages = append(params.Messages, anthropic.MessageParam{Role: anthropic.MessageParamRole(message.Role), Content: blocks})
	}
	return params, nil
}

// blocksOf returns a message in the API's form. What came from the API goes back as it came, thinking and its signature
// included; only empty text, which the API gives but does not take, stays out.
func blocksOf(message agent.Message) ([]anthropic.ContentBlockParamUnion, error) {
	var blocks []anthropic.ContentBlockParamUnion
	if message.Raw != nil {
		var content []anthropic.ContentBlockUnion
		if err := json.Unmarshal(message.Raw, &content); err != nil {
			return nil, fmt.Errorf("read an earlier turn: %w", err)
		}
		for _, block := range content {
			if !isEmpty(block) {
				blocks = append(blocks, block.ToParam())
			}
		}
		return blocks, nil
	}
	for _, result := range message.Results {
		blocks = append(blocks, anthropic.NewToolResultBlock(result.ID, result.Text, result.IsError))
	}
	if message.Text != "" {
		blocks = append(blocks, anthropic.NewTextBlock(message.Text))
	}
	for _, use := range message.Calls {
		blocks = append(blocks, anthropic.NewToolUseBlock(use.ID, use.Input, use.Name))
	}
	return blocks, nil
}

func isEmpty(block anthropic.ContentBlockUnion) bool {
	return block.Type == "text" && block.Text == ""
}

// turn reads an answer. A stop reason that is not known is the loop's business, one that is missing is no answer.
func (c claude) turn(answer *anthropic.Message) (agent.Turn, error) {
	usage := answer.Usage
	turn := agent.Turn{StopReason: agent.StopReason(answer.StopReason), Usage: agent.Usage{
		InputTokens:  int(usage.InputTokens + usage.CacheReadInputTokens + usage.CacheCreationInputTokens),
		OutputTokens: int(usage.OutputTokens),
	}}
	price := dollars[c.model]
	turn.Usage.CostUSD = (float64(turn.Usage.InputTokens)*price[0] + float64(turn.Usage.OutputTokens)*price[1]) / 1e6
	if answer.Type != "message" || answer.Role != "assistant" || answer.StopReason == "" {
		return turn, errors.New("it is not a message of the assistant with a stop reason")
	}
	var text []string
	for _, block := range answer.Content {
		switch {
		case isEmpty(block):
			continue
		case block.Type == "text":
			text = append(text, block.Text)
		case block.Type == "tool_use":
			turn.Calls = append(turn.Calls, agent.ToolUse{ID: block.ID, Name: block.Name, Input: block.Input})
		}
		turn.Raw = json.RawMessage(answer.JSON.Content.Raw())
	}
	turn.Text = strings.Join(text, "\n")
	return turn, nil
}
