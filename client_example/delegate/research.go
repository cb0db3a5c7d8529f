package delegate

import "github.com/kitebase/kitebase-mcp/client_example/agent"

// The names of the two paths of research, and of the tool that a parent gets.
const (
	Deep     = "deep-research"
	Quick    = "quick-search"
	Research = "research"
)

// DeepResearch is the path to be preferred: several searches, the history of the customer's tickets, up to 8 turns.
func DeepResearch(model agent.Model, tools agent.Tools) Path {
	return Path{Name: Deep, Run: Loop{
		Model: model,
		Tools: tools,
		Instructions: "You do research for a colleague who answers customers. Search the help articles in several wordings, and look for " +
			"earlier tickets about the same thing and how they ended. Never guess.",
		Config: agent.Config{MaxSteps: 8},
	}.Run}
}

// QuickSearch is the lesser path: one search of the help articles, then the answer.
func QuickSearch(model agent.Model, tools agent.Tools) Path {
	return Path{Name: Quick, Run: Loop{
		Model:        model,
		Tools:        tools,
		Names:        []string{"search_help"},
		Instructions: "You do research for a colleague who answers customers. Search the help articles once, then answer. Never guess.",
		Config:       agent.Config{MaxSteps: 2},
	}.Run}
}
