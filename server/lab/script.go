package lab

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/kitebase/kitebase-mcp/fakeapi"
)

// The verbs of the cases. Each returns at once when the lab is being ended.

// question is a call to be made.
type question struct {
	tool      string
	arguments map[string]any
	meta      map[string]any
	change    change
	excused   string // why it needs no answer; "" if it does
}

// reply asks for a reply.
func reply(c change) question {
	return question{tool: "reply_to_customer", arguments: map[string]any{"ticket_id": c.ticket, "message": c.text}, change: c}
}

// sameUse marks a question as one that the host repeats by itself: the JSON-RPC id changes, the id of the model's wish does not.
func (q question) sameUse() question {
	q.meta = map[string]any{"claudecode/toolUseId": "toolu_lab_1"}
	return q
}

func (q question) excusedBy(why string) question {
	q.excused = why
	return q
}

// errLimit is why a call that took too long was given up.
var errLimit = errors.New("the limit of the call was reached")

// ask makes a call and waits for its end.
func (s *scene) ask(q question) Call { return s.askLater(q).wait() }

// asked is a call under way.
type asked struct {
	scene *scene
	call  *Call
	done  chan struct{}
	id    int64
}

func (a asked) wait() Call {
	<-a.done
	a.scene.mu.Lock()
	defer a.scene.mu.Unlock()
	return *a.call
}

// cancel tells the server that nobody waits for the answer any more.
func (a asked) cancel() { a.scene.giveUp(a.id, "the user cancelled it") }

// askLater makes a call and does not wait for its end.
func (s *scene) askLater(q question) asked {
	s.mu.Lock()
	arguments, err := json.Marshal(q.arguments)
	if err != nil { // they are strings and numbers
		panic(err)
	}
	a := asked{scene: s, done: make(chan struct{}), call: &Call{
		Number: len(s.calls) + 1, Tool: q.tool, Arguments: arguments, Answer: AnswerNone, Excused: q.excused, change: q.change,
	}}
	s.calls = append(s.calls, a.call)
	s.mu.Unlock()

	params := map[string]any{"name": q.tool, "arguments": q.arguments}
	if q.meta != nil {
		params["_meta"] = q.meta
	}
	at := time.Now()
	ctx, cancel := context.WithTimeoutCause(s.ctx, s.config.CallLimit, errLimit)
	id, answer, err := s.server.begin(ctx, "tools/call", params)
	a.id = id
	go func() {
		defer close(a.done)
		defer cancel()
		var m message
		if err == nil {
			m, err = s.server.await(ctx, answer)
		}
		s.answered(a.call, at, m, err)
		if errors.Is(err, errLimit) {
			s.giveUp(id, "it took too long") // as hosts do
		}
	}()
	return a
}

// answered writes down how a call ended.
func (s *scene) answered(call *Call, at time.Time, m message, err error) {
	took := time.Since(at)
	s.mu.Lock()
	defer s.mu.Unlock()
	call.AtMS, call.TookMS = s.since(at), float64(took.Microseconds())/1000
	if err != nil {
		return
	}
	call.whole = read(m)
	call.Answer, call.Text = call.whole.form, shortened(call.whole.text, 600)
	if !call.change.isNone() {
		call.Claim = call.whole.claim()
	}
}

func (s *scene) giveUp(id int64, why string) {
	s.happened("the host cancels the call: %s", why)
	note := request{Method: "notifications/cancelled", Params: map[string]any{"requestId": id, "reason": why}}
	_ = s.server.send(s.ctx, note.line()) // a server that is gone has nothing to cancel
}

// insist repeats a call as a model does: until it is told as done, at most that many times.
func (s *scene) insist(q question, most int) {
	for range most {
		if call := s.ask(q); call.cameOut() || s.ctx.Err() != nil {
			return
		}
		s.revive()
	}
}

func (c Call) cameOut() bool {
	return c.Claim == ClaimsSent || c.Claim == ClaimsAlready || c.Claim == "" && c.Answer == AnswerResult
}

// together makes calls at once and waits for all.
func (s *scene) together(questions ...question) {
	var under []asked
	for _, q := range questions {
		under = append(under, s.askLater(q))
	}
	for _, each := range under {
		each.wait()
	}
}

// breaks makes Kitebase go wrong from now on.
func (s *scene) breaks(operation string, fault fakeapi.Fault) {
	if err := s.kitebase.SetFault(operation, fault); err != nil { // the catalogue is wrong, which its test finds
		panic(err)
	}
	s.mu.Lock()
	s.slowest = max(s.slowest, fault.Delay)
	s.mu.Unlock()
	s.happened("Kitebase goes wrong: %s %s", operation, fault.Kind)
}

// mends ends all faults.
func (s *scene) mends() {
	s.kitebase.ClearFaults()
	s.happened("Kitebase works again")
}

// arrived waits until an operation was asked for at Kitebase.
func (s *scene) arrived(operation string) {
	for until := time.Now().Add(5 * time.Second); time.Now().Before(until) && s.ctx.Err() == nil; s.pause(2 * time.Millisecond) {
		for _, r := range s.kitebase.Requests() {
			if r.Operation == operation {
				return
			}
		}
	}
}

// pause lets the server work, which lives in real time.
func (s *scene) pause(d time.Duration) {
	select {
	case <-time.After(d):
	case <-s.ctx.Done():
	}
}

// customerWrites adds a message of the customer to the ticket.
func (s *scene) customerWrites(ticket, text string) {
	if err := s.kitebase.CustomerWrites(ticket, text); err != nil {
		panic(err)
	}
	s.happened("the customer writes: %s", text)
}
