package delegate_test

import (
	"context"
	"fmt"

	"github.com/kitebase/kitebase-mcp/client_example/agent"
	"github.com/kitebase/kitebase-mcp/client_example/delegate"
)

// A path is any function that can tell what it found, and where.
func ExampleDelegate_Do() {
	deep := func(context.Context, delegate.Order) (delegate.Finding, error) {
		return delegate.Finding{Summary: "Have you tried turning it off and on?"}, nil // says who?
	}
	quick := func(_ context.Context, order delegate.Order) (delegate.Finding, error) {
		order.Tell(agent.Said{Text: "searching"}) // alive
		return delegate.Finding{Summary: "Reset it under Settings > SSO.", Sources: []string{"account-recovery#2"}}, nil
	}
	d, err := delegate.New(delegate.Config{},
		delegate.Path{Name: "deep-research", Run: deep}, delegate.Path{Name: "quick-search", Run: quick})
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := d.Do(context.Background(), "What fits KITE-142?", nil)
	fmt.Println(answer.Summary, answer.Sources, err)
	fmt.Println(answer.Note())
	// Output:
	// Reset it under Settings > SSO. [account-recovery#2] <nil>
	// Degraded: quick-search answered in place of deep-research (no source named, 2 tries).
}

// The parent is an agent with a tool more. Here both models break off, and the ticket goes to a person.
func ExampleDelegate_Run() {
	declines := turns(agent.Turn{StopReason: agent.StopRefusal})
	tools := help{finds}
	d, err := delegate.New(delegate.Config{}, delegate.DeepResearch(declines, tools), delegate.QuickSearch(declines, tools))
	if err != nil {
		fmt.Println(err)
		return
	}
	parent := turns(ask("research", `{"question": "What fits KITE-142?"}`))
	report, err := d.Run(context.Background(), agent.Job{Task: "Handle KITE-142.", Model: parent, Tools: tools}, agent.Config{}, nil)
	fmt.Println(report.Reason, err)
	fmt.Println(report.Handover())
	// Output:
	// research_failed <nil>
	// I couldn't finish this: the research failed on every path: deep-research (Claude declined to continue, 1 try), quick-search (Claude declined to continue, 1 try).
	// Changes made: none, nothing was sent to the customer or changed.
	// A person needs to pick this up.
}
