package agent

import (
	"fmt"
	"strconv"
)

// Usage is what one or more turns of a model cost. The zero value is nothing.
type Usage struct {
	// InputTokens and OutputTokens are as the provider of the model counts them, cached input included.
	InputTokens  int `json:"input_tokens"`
	OutputTokens int `json:"output_tokens"`
	// CostUSD is in US dollars.
	CostUSD float64 `json:"cost_usd"`
}

func (u Usage) plus(more Usage) Usage {
	return Usage{
		InputTokens:  u.InputTokens + more.InputTokens,
		OutputTokens: u.OutputTokens + more.OutputTokens,
		CostUSD:      u.CostUSD + more.CostUSD,
	}
}

// spent returns the ending of a run that has used up a budget, nil for any other. It is asked before each turn: what a
// turn costs is known only afterwards, so that a budget is overrun by one turn at the most.
func (r *run) spent() *ending {
	tokens := r.report.Usage.InputTokens + r.report.Usage.OutputTokens
	if limit := r.cfg.TokenBudget; limit > 0 && tokens >= limit {
		return &ending{reason: TokenBudget, why: fmt.Sprintf("the run used up its budget of %d tokens", limit)}
	}
	if limit := r.cfg.CostBudgetUSD; limit > 0 && r.report.Usage.CostUSD >= limit {
		return &ending{reason: CostBudget, why: "the run used up its budget of $" + strconv.FormatFloat(limit, 'f', -1, 64)}
	}
	return nil
}
