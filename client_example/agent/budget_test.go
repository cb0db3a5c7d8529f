package agent_test

import (
	"context"
	"errors"
	"testing"

	"github.com/kitebase/kitebase-mcp/client_example/agent"
	"github.com/stretchr/testify/require"
)

func TestBudgets(t *testing.T) {
	each := agent.Usage{InputTokens: 900, OutputTokens: 100, CostUSD: 0.25}
	for name, test := range map[string]struct {
		cfg    agent.Config
		usage  agent.Usage
		turns  int // that the model takes
		reason agent.Reason
		why    string
	}{
		"input and output count":     {agent.Config{TokenBudget: 3000}, each, 3, agent.TokenBudget, "the run used up its budget of 3000 tokens"},
		"a budget is overrun":        {agent.Config{TokenBudget: 2001}, each, 3, agent.TokenBudget, "the run used up its budget of 2001 tokens"},
		"cost":                       {agent.Config{CostBudgetUSD: 0.5}, each, 2, agent.CostBudget, "the run used up its budget of $0.5"},
		"cost by default":            {agent.Config{}, each, 4, agent.CostBudget, "the run used up its budget of $1"},
		"tokens by default":          {agent.Config{}, agent.Usage{OutputTokens: 100_000}, 2, agent.TokenBudget, "the run used up its budget of 200000 tokens"},
		"both turned off":            {agent.Config{TokenBudget: -1, CostBudgetUSD: -1}, agent.Usage{OutputTokens: 1e9, CostUSD: 1e6}, 8, agent.MaxSteps, "the run hit its 8-step limit"},
		"a model that costs nothing": {agent.Config{}, agent.Usage{}, 8, agent.MaxSteps, "the run hit its 8-step limit"},
	} {
		t.Run(name, func(t *testing.T) {
			m := pages(20)
			decide := m.decide
			m.decide = func(ctx context.Context, step int, request agent.Request) (agent.Turn, error) {
				turn, err := decide(ctx, step, request)
				turn.Usage = test.usage
				return turn, err
			}
			report, box := run(t, m, map[string]toolFunc{"look": answers(ok("found"))}, test.cfg)
			require.Equal(t, test.reason, report.Reason)
			require.Equal(t, test.why, report.Why)
			require.Len(t, m.requests, test.turns)
			require.Len(t, box.calls, test.turns, "the calls of a turn that is paid for run")
			require.Equal(t, test.turns*test.usage.InputTokens, report.Usage.InputTokens)
			require.Equal(t, test.turns*test.usage.OutputTokens, report.Usage.OutputTokens)
		})
	}
	t.Run("turns that are thrown away cost as well", func(t *testing.T) {
		cut := agent.Turn{Text: "I was about to", StopReason: agent.StopMaxTokens, Usage: each}
		report, _ := run(t, tape(cut, says("Done.")), nil, agent.Config{TokenBudget: 1000})
		require.Equal(t, agent.TokenBudget, report.Reason)
	})
	t.Run("a run that ended by itself has not hit its budget", func(t *testing.T) {
		last := says("Done.")
		last.Usage = each
		report, _ := run(t, tape(last), nil, agent.Config{TokenBudget: 1})
		require.Equal(t, agent.EndTurn, report.Reason)
		require.Equal(t, each, report.Usage)
	})
	t.Run("a turn that fails may have cost something", func(t *testing.T) {
		m := &model{decide: func(context.Context, int, agent.Request) (agent.Turn, error) {
			return agent.Turn{Usage: each}, errors.New("cut amid the answer")
		}}
		report, _ := run(t, m, nil, agent.Config{})
		require.Equal(t, each, report.Usage)
	})
}
