package lab

import (
	"fmt"
	"time"

	"github.com/kitebase/kitebase-mcp/fakeapi"
)

func readers() []string { return []string{"search_help", "get_ticket", "search_tickets"} }

func reads() []question {
	return []question{
		{tool: "search_help", arguments: map[string]any{"query": "locked out of my account"}},
		ticket("KITE-142"),
		{tool: "search_tickets", arguments: map[string]any{"query": "invoice"}},
	}
}

func ticket(id string) question {
	return question{tool: "get_ticket", arguments: map[string]any{"ticket_id": id}}
}

// readCases have every request go wrong, so that the model reads the error.
func readCases() []Case {
	var all []Case
	for _, b := range append(append(afterWork(), slowly(time.Second)), beforeWork()...) {
		all = append(all, Case{
			Name: "read/" + b.name, Breaks: b.says + ", until the first calls are answered.", Tools: readers(),
			Does: "Each of the three reads, at once; then all is well, and they are made again.", Judged: "The errors can be read.",
			play: func(s *scene) {
				s.breaks("*", b.fault)
				s.together(reads()...)
				s.mends()
				s.revive()
				s.together(reads()...)
			},
		})
	}
	return all
}

// assignCases change a ticket, which may be repeated without harm; what is told of it must be true all the same.
func assignCases() []Case {
	var all []Case
	for _, b := range append(beforeWork(), afterWork()...) {
		all = append(all, Case{
			Name: "assign/" + b.name, Breaks: b.says + ", until the call is answered.", Judged: truly, Tools: []string{"assign_ticket"},
			Does: "One assignment, once.",
			play: func(s *scene) {
				s.breaks("assign_ticket", b.fault)
				s.ask(assign("KITE-102", "priya"))
			},
		})
	}
	return all
}

func assign(id, agent string) question {
	return question{tool: "assign_ticket", arguments: map[string]any{"ticket_id": id, "assignee": agent}, change: change{ticket: id, assignee: agent}}
}

// otherCases are the customer, an outage, limits, arguments and many calls at once.
func otherCases() []Case {
	return append([]Case{
		{
			Name: "customer/wrote", Breaks: "Nothing.", Tools: senders(),
			Does:   "A reply; the customer writes; the same reply again, which is wanted.",
			Judged: "The customer gets two emails, or the second answer says that it was not sent.",
			play: func(s *scene) {
				again := theReply()
				s.ask(reply(again))
				s.customerWrites(again.ticket, "I got in, and an hour later I am locked out again. What now?")
				again.nth = 1
				s.ask(reply(again))
			},
		},
		{
			Name: "outage/recovers", Breaks: "Kitebase answers 503 to everything, until eight calls are answered.", Tools: append(readers(), sender),
			Does:   "Two rounds of the three reads with a reply each; then all is well, and the model repeats the reply until it is told as sent, at most twice.",
			Judged: oneEmail, play: outage,
		},
		{
			Name: "limit/long", Breaks: "Kitebase answers 429 with Retry-After: 120, until the first call is answered.", Judged: oneEmail, Tools: senders(),
			Does: "One reply; then the model repeats it until it is told as sent, at most twice.",
			play: func(s *scene) {
				s.breaks(sender, fakeapi.Fault{Kind: fakeapi.FaultStatus, Status: 429, RetryAfter: "120"})
				s.ask(reply(theReply()))
				s.mends()
				s.revive()
				s.insist(reply(theReply()), 2)
			},
		},
	}, append(argumentCases(), rushCases()...)...)
}

func outage(s *scene) {
	s.breaks("*", fakeapi.Fault{Kind: fakeapi.FaultStatus, Status: 503})
	for range 2 {
		s.together(append(reads(), reply(theReply()))...)
		s.revive()
	}
	s.mends()
	s.insist(reply(theReply()), 2)
}

// argumentCases are what models get wrong.
func argumentCases() []Case {
	return []Case{
		{
			Name: "arguments/no-such-ticket", Breaks: "Nothing.", Judged: truly, Tools: []string{"get_ticket", "assign_ticket", sender},
			Does: "A ticket that does not exist is read, assigned and answered.",
			play: func(s *scene) {
				s.ask(ticket("KITE-99999"))
				s.ask(assign("KITE-99999", "priya"))
				s.ask(reply(change{ticket: "KITE-99999", text: "Is anybody there?", hopeless: true}))
			},
		},
		{
			Name: "arguments/wrong", Breaks: "Nothing.", Judged: truly, Tools: append(readers(), "assign_ticket", sender),
			Does: "Missing, blank and ill-typed arguments, an id in another form, an agent who does not exist.",
			play: func(s *scene) {
				for _, q := range wrongArguments() {
					s.ask(q)
					s.revive()
				}
				s.ask(assign("KITE-102", "nobody"))
			},
		},
	}
}

func wrongArguments() []question {
	return []question{
		{tool: "get_ticket", arguments: map[string]any{}},
		{tool: "get_ticket", arguments: map[string]any{"ticket_id": 142}},
		{tool: "get_ticket", arguments: map[string]any{"ticket_id": "../../KITE-142?x=1"}},
		{tool: "search_help", arguments: map[string]any{"query": ""}},
		{tool: "search_tickets", arguments: map[string]any{"query": "invoice", "status": "no such status"}},
		{tool: "search_tickets", arguments: map[string]any{"query": "invoice", "status": nil}},
		{tool: sender, arguments: map[string]any{"ticket_id": "KITE-142"}},
		{tool: sender, arguments: map[string]any{"ticket_id": "KITE-142", "message": "  "}},
		{
			tool: sender, arguments: map[string]any{"ticket_id": "KITE-142", "message": []string{"a list"}},
			change: change{ticket: "KITE-142", text: "a list", hopeless: true}, // whoever makes a text of it sends what was asked for
		},
	}
}

// rushCases make 64 calls at once.
func rushCases() []Case {
	const does = "Kitebase takes 100ms for each request."
	return []Case{
		{
			Name: "rush/reads", Breaks: does, Does: "64 tickets are read at once.", Judged: "Each call is answered.", Tools: []string{"get_ticket"},
			play: func(s *scene) {
				s.breaks("*", slowly(100*time.Millisecond).fault)
				var all []question
				for i := range 64 {
					all = append(all, ticket(fmt.Sprintf("KITE-%d", 101+i%40)))
				}
				s.together(all...)
			},
		},
		{
			Name: "rush/mixed", Breaks: "Kitebase takes 100ms for each read, and loses the answer of one reply in five after it was sent.", Tools: []string{"get_ticket", sender},
			Does: "48 tickets are read and 16 different replies sent, all at once.", Judged: "Each customer gets at most one email for each reply, and each answer is true.",
			play: func(s *scene) {
				s.breaks("get_ticket", slowly(100*time.Millisecond).fault)
				s.breaks(sender, fakeapi.Fault{Kind: fakeapi.FaultLose, Probability: 0.2, Seed: 7})
				var all []question
				for i := range 48 {
					all = append(all, ticket(fmt.Sprintf("KITE-%d", 101+i%40)))
				}
				for i := range 16 {
					all = append(all, reply(change{ticket: fmt.Sprintf("KITE-%d", 101+i), text: fmt.Sprintf("Your request was passed on to our team (%d).", i)}))
				}
				s.together(all...)
			},
		},
	}
}
