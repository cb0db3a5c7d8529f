package main

import (
	"math"
	"slices"
)

// spread is a median with the lowest and the highest.
type spread struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

// spreadOf takes all values, whatever they are. Of none everything is NaN.
func spreadOf(values []float64) spread {
	if len(values) == 0 {
		return spread{math.NaN(), math.NaN(), math.NaN()}
	}
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return spread{(sorted[(n-1)/2] + sorted[n/2]) / 2, sorted[0], sorted[n-1]}
}

// ratios divides round by round.
func ratios(values, by []float64) []float64 {
	var all []float64
	for i := range min(len(values), len(by)) {
		all = append(all, values[i]/by[i])
	}
	return all
}

// verdict is whether a target was reached.
type verdict struct {
	Transport string  `json:"transport"`
	Figure    string  `json:"figure"`
	Versus    string  `json:"versus,omitempty"`
	AtLeast   bool    `json:"at_least"`
	Limit     float64 `json:"limit"`
	Reached   spread  `json:"reached"`
	Met       bool    `json:"met"`
}

// verdicts judges all targets for which there are figures.
func (r *report) verdicts() []verdict {
	var all []verdict
	if r.unjudged {
		return nil
	}
	for _, t := range targets() {
		sheet := r.sheet(ours, t.transport)
		if sheet == nil {
			continue
		}
		values := sheet.Rounds[t.figure.name]
		if t.versus != "" {
			other := r.sheet(t.versus, t.transport)
			if other == nil {
				continue
			}
			values = ratios(values, other.Rounds[t.figure.name])
		}
		if len(values) == 0 {
			continue
		}
		reached := spreadOf(values)
		met := reached.Median <= t.limit
		if t.atLeast {
			met = reached.Median >= t.limit
		}
		all = append(all, verdict{t.transport, t.figure.name, t.versus, t.atLeast, t.limit, reached, met})
	}
	return all
}
