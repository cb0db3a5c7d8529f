package lab

import (
	"slices"
	"time"

	"github.com/kitebase/kitebase-mcp/fakeapi"
)

// hostCases repeat as hosts do, or cancel.
func hostCases() []Case {
	return []Case{
		{
			Name: "host/repeats", Breaks: "Kitebase sends the reply and cuts the connection, once.", Judged: oneEmail, Tools: senders(),
			Does: "One reply; then the host repeats the call by itself, with the same toolUseId and a new JSON-RPC id.",
			play: func(s *scene) {
				s.breaks(sender, fakeapi.Fault{Kind: fakeapi.FaultLose, Times: 1})
				s.ask(reply(theReply()).sameUse())
				s.revive()
				s.ask(reply(theReply()).sameUse())
			},
		},
		{
			Name: "host/twice", Breaks: "Nothing.", Judged: oneEmail, Tools: senders(),
			Does: "The host sends one call twice within milliseconds, with the same toolUseId, as some builds have done.",
			play: func(s *scene) { s.together(reply(theReply()).sameUse(), reply(theReply()).sameUse()) },
		},
		{
			Name: "host/together", Breaks: "Kitebase sends the reply and cuts the connection, once.", Judged: oneEmail, Tools: senders(),
			Does: "The same reply eight times at once.",
			play: func(s *scene) {
				s.breaks(sender, fakeapi.Fault{Kind: fakeapi.FaultLose, Times: 1})
				s.together(slices.Repeat([]question{reply(theReply())}, 8)...)
			},
		},
		{
			Name: "host/cancels", Breaks: "Kitebase takes 800ms for the reply.", Judged: oneEmail, Tools: senders(),
			Does: "One reply; when it has reached Kitebase the host cancels it; then the model repeats it until it is told as sent, at most twice.",
			play: func(s *scene) { cancelInside(s, slowly(800*time.Millisecond).times(1)) },
		},
		{
			Name: "host/cancels-lost", Breaks: "Kitebase sends the reply and never answers, once.", Judged: oneEmail, Tools: senders(),
			Does: "One reply; when it has reached Kitebase the host cancels it; then the model repeats it until it is told as sent, at most twice.",
			play: func(s *scene) { cancelInside(s, fakeapi.Fault{Kind: fakeapi.FaultHang, Times: 1}) },
		},
	}
}

func cancelInside(s *scene, fault fakeapi.Fault) {
	s.breaks(sender, fault)
	under := s.askLater(reply(theReply()).excusedBy("the host cancelled it"))
	s.arrived(sender)
	under.cancel()
	s.insist(reply(theReply()), 2)
}

// endCases end the server while a reply is under way.
func endCases() []Case {
	slow, hang := slowly(600*time.Millisecond), fakeapi.Fault{Kind: fakeapi.FaultHang, Times: 1}
	ends := []struct {
		name, breaks, does string
		fault              fakeapi.Fault
		end                func(*scene)
	}{
		{"end/killed-lost", "Kitebase sends the reply and never answers, once.", "the server is killed (SIGKILL)", hang, (*scene).killed},
		{"end/killed-early", "Kitebase takes 600ms for the reply, and sends it after all.", "the server is killed (SIGKILL)", slow.times(1), (*scene).killed},
		{"end/hangs-up", "Kitebase takes 600ms for the reply, and sends it after all.", "the host closes the input of the server", slow.times(1), (*scene).hangsUp},
		{"end/leaves", "Kitebase takes 600ms for the reply, and sends it after all.", "the host ends the session (SIGINT, SIGTERM, SIGKILL within half a second)", slow.times(1), (*scene).leaves},
	}
	var all []Case
	for _, each := range ends {
		all = append(all, Case{
			Name: each.name, Breaks: each.breaks, Judged: oneEmail, Tools: senders(),
			Does: "One reply; when it has reached Kitebase, " + each.does + ". It is started again, and the model repeats the reply until it is told as sent, at most twice.",
			play: func(s *scene) { endInside(s, each.fault, each.end) },
		})
	}
	return append(all, Case{
		Name: "end/after", Breaks: "Nothing.", Judged: oneEmail, Tools: senders(),
		Does: "One reply; the server is killed after its answer and started again; the same reply comes again.",
		play: func(s *scene) {
			s.ask(reply(theReply()))
			s.killed()
			s.restart()
			s.ask(reply(theReply()))
		},
	})
}

func endInside(s *scene, fault fakeapi.Fault, end func(*scene)) {
	s.breaks(sender, fault)
	under := s.askLater(reply(theReply()).excusedBy("the server was ended meanwhile"))
	s.arrived(sender)
	end(s)
	under.wait()
	s.restart()
	s.insist(reply(theReply()), 2)
}

// keylessCases are what only somebody who knows that Kitebase ignores keys can get right.
func keylessCases() []Case {
	const ignores = " It ignores Idempotency-Key, and the server is not told."
	keyless := func(name, breaks, does string, play func(*scene)) Case {
		return Case{Name: "keyless/" + name, Breaks: breaks + ignores, Does: does, Judged: oneEmail, Tools: senders(), Keyless: true, play: play}
	}
	all := []Case{
		keyless("together", "Nothing breaks.", "The same reply eight times at once.", func(s *scene) {
			s.together(slices.Repeat([]question{reply(theReply())}, 8)...)
		}),
		keyless("killed-lost", "Kitebase sends the reply and never answers, once.", "One reply; the server is killed and started again, and the model repeats it.", func(s *scene) {
			endInside(s, fakeapi.Fault{Kind: fakeapi.FaultHang, Times: 1}, (*scene).killed)
		}),
	}
	for _, b := range afterWork() {
		if b.name != "lose" && b.name != "fail-after" {
			continue
		}
		all = append(all, keyless(b.name, b.says+", once.", "One reply; the model repeats it until it is told as sent, at most twice.", func(s *scene) {
			s.breaks(sender, b.times(1))
			s.insist(reply(theReply()), 3)
		}))
	}
	return all
}
