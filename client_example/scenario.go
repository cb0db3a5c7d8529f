package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kitebase/kitebase-mcp/client_example/agent"
)

// scenario is a run against a help desk of its own in which something breaks.
type scenario struct {
	name   string
	breaks string
	ending string // the last line that the run must have

	// All below may be left out: then nothing breaks.

	faults  []string     // of the help desk, as fakeapi.ParseFault reads them
	keyless bool         // the help desk ignores Idempotency-Key
	server  []string     // flags of the server, beside those of all scenarios
	model   agent.Model  // default script
	limits  agent.Config // of the run
	run     runner       // default agent.Run
}

// scenarios returns all scenarios, in the order in which they teach.
func scenarios() []scenario {
	return slices.Concat(deskScenarios(), modelScenarios(), outageScenarios(), researchScenarios())
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
		fmt.Fprintf(&lines, "  %-21s%s\n", s.name, s.breaks)
	}
	return lines.String()
}
