package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/kitebase/kitebase-mcp/client_example/agent"
	"github.com/kitebase/kitebase-mcp/client_example/delegate"
)

// researchScenarios are those in which the loop hands the research to sub-loops, and one of these breaks.
func researchScenarios() []scenario {
	return []scenario{
		{
			name:   "research-ok",
			breaks: "nothing breaks; the research is done by deep-research",
			model:  parent{deep: modelFunc(digs)},
			ending: "DONE (end_turn) after 4 step(s), 1 email(s) sent",
		},
		{
			name:   "research-stall",
			breaks: "deep-research falls silent after its first search, twice; quick-search serves",
			model:  parent{deep: silentModel{}, config: delegate.Config{Stall: time.Second}},
			ending: "DONE (end_turn) after 4 step(s), 1 email(s) sent",
		},
		{
			name:   "research-bad-result",
			breaks: "deep-research names no source, twice; quick-search serves",
			model:  parent{deep: modelFunc(guesses)},
			ending: "DONE (end_turn) after 4 step(s), 1 email(s) sent",
		},
		{
			name:   "research-open",
			breaks: "deep-research failed for an earlier ticket; it is not asked again so soon",
			model:  parent{deep: modelFunc(recovers), earlier: true, config: delegate.Config{Threshold: 1}},
			ending: "DONE (end_turn) after 4 step(s), 1 email(s) sent",
		},
		{
			name:   "research-probe",
			breaks: "the same, but the cooldown is over; deep-research is probed, works, and is back",
			model:  parent{deep: modelFunc(recovers), earlier: true, config: delegate.Config{Threshold: 1, Cooldown: 50 * time.Millisecond}},
			ending: "DONE (end_turn) after 4 step(s), 1 email(s) sent",
		},
		{
			name:   "research-all-fail",
			breaks: "search_help is down, so that both fail; a person gets the ticket, the customer no guess",
			faults: []string{"search_help=drop"},
			model:  parent{deep: modelFunc(digs)},
			ending: "FAILED (research_failed) after 3 step(s), 0 email(s) sent",
		},
	}
}

// hits is what a search brought.
type hits struct {
	Articles []struct{ ID, Title string }
	Tickets  []struct{ ID string }
}

// digs is the model of deep-research: two wordings, then the history.
func digs(request agent.Request) (agent.Turn, error) {
	n := len(request.Messages)
	if n > 1 && request.Messages[n-1].Results[0].IsError {
		return finding("")
	}
	switch n {
	case 1:
		return ask(n, "search_help", "query", problem), nil
	case 3:
		return ask(n, "search_help", "query", "single sign-on identity provider changed"), nil
	case 5:
		return ask(n, "search_tickets", "query", problem, "status", "resolved"), nil
	}
	var first, second, history hits
	for i, into := range []*hits{&first, &second, &history} {
		read(request.Messages[2*i+2].Results[0].Text, into)
	}
	if len(first.Articles) == 0 || len(second.Articles) == 0 || len(history.Tickets) == 0 {
		return finding("")
	}
	best, other, before := first.Articles[0], second.Articles[0], history.Tickets[0]
	return finding(fmt.Sprintf("The articles %q and %q say how to get back in.", best.Title, other.Title), best.ID, other.ID, before.ID)
}

// glances is the model of quick-search.
func glances(request agent.Request) (agent.Turn, error) {
	n := len(request.Messages)
	if n == 1 {
		return ask(n, "search_help", "query", problem), nil
	}
	var help hits
	result := request.Messages[n-1].Results[0]
	read(result.Text, &help)
	if result.IsError || len(help.Articles) == 0 {
		return finding("")
	}
	return finding(fmt.Sprintf("The article %q says how to get back in.", help.Articles[0].Title), help.Articles[0].ID)
}

// guesses searches, and then tells what nobody told it.
func guesses(request agent.Request) (agent.Turn, error) {
	if len(request.Messages) == 1 {
		return digs(request)
	}
	return finding("Most likely a typo in the password.")
}

// recovers guesses about the earlier ticket, and digs for any other.
func recovers(request agent.Request) (agent.Turn, error) {
	if strings.Contains(request.Messages[0].Text, earlierTicket) {
		return guesses(request)
	}
	return digs(request)
}

// finding is the last turn of a sub-loop.
func finding(summary string, sources ...string) (agent.Turn, error) {
	text, err := json.Marshal(delegate.Finding{Summary: summary, Sources: sources})
	return end(string(text)), err
}
