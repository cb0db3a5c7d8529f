package lab

import (
	"time"

	"github.com/kitebase/kitebase-mcp/fakeapi"
)

// slowCases have a Kitebase that is slower than anybody's patience, or a model that has some.
func slowCases() []Case {
	const patience = 35 * time.Second
	all := []Case{{
		Name: "slow/later", Breaks: "Kitebase cuts the connection and does nothing, until the first call is answered.", Judged: oneEmail, Tools: senders(),
		Does: "One reply; if it is not told as sent, the model repeats it 35 seconds later.",
		play: func(s *scene) {
			s.breaks(sender, fakeapi.Fault{Kind: fakeapi.FaultDrop})
			first := s.ask(reply(theReply()))
			s.mends()
			if !first.cameOut() {
				s.pause(patience)
				s.revive()
				s.ask(reply(theReply()))
			}
		},
	}}
	for _, each := range []struct {
		name  string
		delay time.Duration
	}{{"slow/30s", 30 * time.Second}, {"slow/12s", 12 * time.Second}} {
		b := slowly(each.delay)
		all = append(all, Case{
			Name: each.name, Breaks: b.says + ".", Does: "One reply, once.", Tools: senders(),
			Judged: "The answer is true in the end, when Kitebase has worked through what it had begun.",
			play: func(s *scene) {
				s.breaks(sender, b.times(1))
				s.ask(reply(theReply()))
			},
		})
	}
	return all
}

// onceCases send one reply once, while one request goes wrong.
func onceCases() []Case {
	all := []Case{{
		Name: "once/well", Breaks: "Nothing.", Does: "One reply, once.", Judged: oneEmail, Tools: senders(),
		play: func(s *scene) { s.ask(reply(theReply())) },
	}}
	for _, b := range append(append(beforeWork(), slowly(time.Second)), afterWork()...) {
		all = append(all, Case{
			Name: "once/" + b.name, Breaks: b.says + ", once.", Does: "One reply, once.", Judged: oneEmail, Tools: senders(),
			play: func(s *scene) {
				s.breaks(sender, b.times(1))
				s.ask(reply(theReply()))
			},
		})
	}
	return all
}

// repeatCases send one reply while every request goes wrong; then all is well, and the model repeats what did not come out.
func repeatCases() []Case {
	var all []Case
	for _, b := range append(beforeWork(), afterWork()...) {
		all = append(all, Case{
			Name: "repeat/" + b.name, Breaks: b.says + ", until the first call is answered.",
			Does: "One reply; then the model repeats it until it is told as sent, at most twice.", Judged: oneEmail, Tools: senders(),
			play: func(s *scene) {
				s.breaks(sender, b.fault)
				first := s.ask(reply(theReply()))
				s.mends()
				s.revive()
				if !first.cameOut() {
					s.insist(reply(theReply()), 2)
				}
			},
		})
	}
	return append(all, blindCases()...)
}

// blind makes a reply unconfirmed for good: its answers are lost, and nobody can look for it.
func blind(s *scene) {
	s.breaks(sender, fakeapi.Fault{Kind: fakeapi.FaultLose})
	s.breaks("get_ticket", fakeapi.Fault{Kind: fakeapi.FaultDrop})
}

func blindCases() []Case {
	const breaks = "Kitebase sends the reply and cuts the connection, and tickets cannot be read, until the first call is answered."
	return []Case{
		{
			Name: "repeat/blind", Breaks: breaks, Tools: senders(), Judged: oneEmail,
			Does: "One reply; then the model repeats it until it is told as sent, at most twice.",
			play: func(s *scene) {
				blind(s)
				first := s.ask(reply(theReply()))
				s.mends()
				s.revive()
				if !first.cameOut() {
					s.insist(reply(theReply()), 2)
				}
			},
		},
		{
			Name: "repeat/reworded", Breaks: breaks, Tools: senders(),
			Does:   "One reply; if it is not told as sent, the model says the same in other words, once.",
			Judged: "The two texts are one reply: the customer gets at most one email, and each answer about it is true.",
			play: func(s *scene) {
				first, second := theReply(), theReply()
				second.text = "We are sorry that you cannot get in. Please follow the article on account recovery, and write again if that does not help."
				first.reply, second.reply = "the apology", "the apology"
				blind(s)
				answer := s.ask(reply(first))
				s.mends()
				s.revive()
				if !answer.cameOut() {
					s.ask(reply(second))
				}
			},
		},
	}
}
