package agent_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/kitebase/kitebase-mcp/client_example/agent"
	"github.com/stretchr/testify/require"
)

func TestRunHandsResultsBackUntilTheModelEnds(t *testing.T) {
	m := tape(asks(`look {"id": 1}`), asks(`send {"id": 1}`), says("All done."))
	report, box := run(t, m, map[string]toolFunc{
		"look": answers(ok("found")),
		"send": answers(agent.Result{Text: "sent", Change: "a reply was sent: rpl_001"}),
	}, agent.Config{})

	require.True(t, report.Succeeded())
	require.Equal(t, agent.EndTurn, report.Reason)
	require.Empty(t, report.Why)
	require.Equal(t, 3, report.Steps)
	require.Equal(t, "All done.", report.Text)
	require.Equal(t, []agent.Change{{Tool: "send", What: "a reply was sent: rpl_001", Confirmed: true}}, report.Changes)
	require.Equal(t, []string{`look {"id": 1}`, `send {"id": 1}`}, box.texts())

	require.Len(t, m.requests, 3)
	require.Equal(t, []agent.Message{{Role: agent.User, Text: "Handle KITE-142."}}, m.requests[0].Messages)
	require.Equal(t, []agent.ToolResult{{ID: "call_1", Text: "found"}}, m.requests[1].Messages[2].Results)
	require.Len(t, m.requests[0].Tools, 2)
	require.Equal(t, 1024, m.requests[0].MaxTokens)
}

func TestStepLimit(t *testing.T) {
	t.Run("ends a model that never finishes", func(t *testing.T) {
		report, box := run(t, pages(20), map[string]toolFunc{"look": answers(ok("found"))}, agent.Config{})
		require.Equal(t, agent.MaxSteps, report.Reason)
		require.Equal(t, "the run hit its 8-step limit", report.Why)
		require.Equal(t, 8, report.Steps)
		require.Len(t, box.calls, 8)
	})
	t.Run("can be turned off", func(t *testing.T) {
		report, _ := run(t, pages(20), map[string]toolFunc{"look": answers(ok("found"))}, agent.Config{MaxSteps: -1})
		require.Equal(t, agent.EndTurn, report.Reason)
		require.Equal(t, 21, report.Steps)
	})
}

func TestModelUnavailable(t *testing.T) {
	down := errors.New("529 overloaded")
	m := &model{decide: func(context.Context, int, agent.Request) (agent.Turn, error) { return agent.Turn{}, down }}
	report, _ := run(t, m, nil, agent.Config{})
	require.Equal(t, agent.ModelUnavailable, report.Reason)
	require.Equal(t, "Claude could not be reached", report.Why)
	require.ErrorIs(t, report.Err, down)
	require.Equal(t, 1, report.Steps)
	require.NotContains(t, report.Handover(), "529")
}

func TestModelThatPanicsLeavesTheReport(t *testing.T) {
	m := &model{decide: func(_ context.Context, step int, _ agent.Request) (agent.Turn, error) {
		if step == 0 {
			return asks("send"), nil
		}
		panic("malformed answer")
	}}
	report, _ := run(t, m, map[string]toolFunc{"send": answers(agent.Result{Text: "sent", Change: "a reply was sent: rpl_001"})}, agent.Config{})
	require.Equal(t, agent.ModelUnavailable, report.Reason)
	require.ErrorContains(t, report.Err, "panic: malformed answer")
	require.Contains(t, report.Handover(), "Changes made: a reply was sent: rpl_001.")
}

func TestCanceled(t *testing.T) {
	t.Run("while the model thinks", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		m := &model{decide: func(ctx context.Context, _ int, _ agent.Request) (agent.Turn, error) {
			cancel()
			<-ctx.Done()
			return agent.Turn{}, ctx.Err()
		}}
		report, err := agent.Run(ctx, agent.Job{Task: "t", Model: m, Tools: &toolbox{}}, agent.Config{})
		require.NoError(t, err)
		require.Equal(t, agent.Canceled, report.Reason)
		require.Equal(t, "the run was interrupted", report.Why)
	})
	t.Run("while a call runs, the calls after it do not start", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		box := &toolbox{run: map[string]toolFunc{"send": func(ctx context.Context, _ agent.Call) (agent.Result, error) {
			cancel()
			<-ctx.Done()
			return agent.Result{Change: "a reply to KITE-142"}, ctx.Err()
		}}}
		m := tape(asks(`send {"n": 1}`, `send {"n": 2}`), says("never asked"))
		report, err := agent.Run(ctx, agent.Job{Task: "t", Model: m, Tools: box}, agent.Config{})
		require.NoError(t, err)
		requirePaired(t, report.Messages)
		require.Equal(t, agent.Canceled, report.Reason)
		require.Len(t, box.calls, 1)
		require.Len(t, m.requests, 1)
		require.Equal(t, "Error: not run. The run ended before this call.", lastResults(t, report)[1].Text)
		require.Equal(t, []agent.Change{{Tool: "send", What: "a reply to KITE-142"}}, report.Changes)
	})
}

func TestRunRefusesWhatItCannotUse(t *testing.T) {
	whole := agent.Job{Task: "t", Model: tape(says("")), Tools: &toolbox{}}
	for name, test := range map[string]struct {
		job  agent.Job
		cfg  agent.Config
		want string
	}{
		"no task":            {agent.Job{Model: whole.Model, Tools: whole.Tools}, agent.Config{}, "a job needs a task, a model and tools"},
		"no model":           {agent.Job{Task: "t", Tools: whole.Tools}, agent.Config{}, "a job needs a task, a model and tools"},
		"no tools":           {agent.Job{Task: "t", Model: whole.Model}, agent.Config{}, "a job needs a task, a model and tools"},
		"negative steps":     {whole, agent.Config{MaxSteps: -2}, "MaxSteps is -2"},
		"negative deadline":  {whole, agent.Config{Deadline: -5}, "Deadline is -5"},
		"negative grace":     {whole, agent.Config{Grace: -5}, "Grace is -5"},
		"negative failures":  {whole, agent.Config{MaxFailures: -2}, "MaxFailures is -2"},
		"negative repeats":   {whole, agent.Config{MaxRepeats: -2}, "MaxRepeats is -2"},
		"negative pauses":    {whole, agent.Config{MaxPauses: -2}, "MaxPauses is -2"},
		"negative budget":    {whole, agent.Config{TokenBudget: -2}, "TokenBudget is -2"},
		"negative cost":      {whole, agent.Config{CostBudgetUSD: -0.5}, "CostBudgetUSD is -0.5"},
		"cost no number":     {whole, agent.Config{CostBudgetUSD: math.NaN()}, "CostBudgetUSD is NaN"},
		"no room":            {whole, agent.Config{MaxTokens: -1}, "MaxTokens is -1"},
		"twice is too much":  {whole, agent.Config{MaxTokens: 10_501}, "MaxTokens is 10501, but takes 0 to 10500"},
		"everything at once": {whole, agent.Config{MaxSteps: -3, MaxTokens: -1}, "MaxTokens is -1"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := agent.Run(context.Background(), test.job, test.cfg)
			require.ErrorContains(t, err, test.want)
		})
	}
}

// pages is a model that reads one page after the other, n in all.
func pages(n int) *model {
	return &model{decide: func(_ context.Context, step int, _ agent.Request) (agent.Turn, error) {
		if step == n {
			return says("read"), nil
		}
		return asks(fmt.Sprintf(`look {"page": %d}`, step)), nil
	}}
}
