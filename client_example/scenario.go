package main

import (
	"fmt"
	"slices"
	"strings"
)

// scenario is a run against a help desk of its own in which something breaks.
type scenario struct {
	name   string
	breaks string
	faults []string // of the help desk, as fakeapi.ParseFault reads them
	ending string   // the last line that the run must have
}

// scenarios returns all scenarios, in the order in which they teach.
func scenarios() []scenario {
	return []scenario{
		{
			name:   "happy",
			breaks: "nothing breaks",
			ending: "DONE (end_turn) after 4 step(s), 1 email(s) sent",
		},
		{
			name:   "flaky",
			breaks: "search_help drops the connection once; the model sees no error",
			faults: []string{"search_help=drop:1"},
			ending: "DONE (end_turn) after 4 step(s), 1 email(s) sent",
		},
		{
			name:   "slow",
			breaks: "get_ticket hangs on both tries; the model goes by search_tickets",
			faults: []string{"get_ticket=hang:2"},
			ending: "DONE (end_turn) after 5 step(s), 1 email(s) sent",
		},
		{
			name:   "duplicate",
			breaks: "the reply is sent but the answer is lost; the customer still gets one email",
			faults: []string{"reply_to_customer=lose:1"},
			ending: "DONE (end_turn) after 4 step(s), 1 email(s) sent",
		},
	}
}

func findScenario(name string) (scenario, bool) {
	all := scenarios()
	i := slices.IndexFunc(all, func(s scenario) bool { return s.name == name })
	if i < 0 {
		return scenario{}, false
	}
	return all[i], true
}

// listing returns one line for each scenario.
func listing() string {
	var lines strings.Builder
	for _, s := range scenarios() {
		fmt.Fprintf(&lines, "  %-12s%s\n", s.name, s.breaks)
	}
	return lines.String()
}
