package agent_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/kitebase/kitebase-mcp/client_example/agent"
)

// weatherModel asks for the weather once, then tells it.
type weatherModel struct{}

func (weatherModel) Next(_ context.Context, request agent.Request) (agent.Turn, error) {
	last := request.Messages[len(request.Messages)-1]
	if len(last.Results) == 0 {
		call := agent.ToolUse{ID: "call_1", Name: "weather", Input: json.RawMessage(`{"city": "Oslo"}`)}
		return agent.Turn{Calls: []agent.ToolUse{call}, StopReason: agent.StopToolUse}, nil
	}
	return agent.Turn{Text: "In Oslo: " + last.Results[0].Text, StopReason: agent.StopEndTurn}, nil
}

type weatherTools struct{}

func (weatherTools) List() []agent.Tool { return []agent.Tool{{Name: "weather", ReadOnly: true}} }

func (weatherTools) Call(context.Context, agent.Call) (agent.Result, error) {
	return agent.Result{Text: "rain, 4 degrees"}, nil
}

func ExampleRun() {
	job := agent.Job{Task: "How is the weather in Oslo?", Model: weatherModel{}, Tools: weatherTools{}}
	report, err := agent.Run(context.Background(), job, agent.Config{})
	fmt.Println(report.Text, err)
	fmt.Println(report.Reason, "after", report.Steps, "steps")
	// Output:
	// In Oslo: rain, 4 degrees <nil>
	// end_turn after 2 steps
}
