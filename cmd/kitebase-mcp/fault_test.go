package main_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/fakeapi"
)

// fault is one way for Kitebase to go wrong and what becomes of a call that meets it in every attempt.
type fault struct {
	spec      string // as behind "operation=" on the command line
	kind      string
	transient bool // one retry, if it is safe, finds all well again
	committed bool // Kitebase does the work
}

// slow is longer than an attempt and shorter than two; see newFaultRun.
const slow = "slow=1800ms"

func faults() []fault {
	return []fault{
		{"drop", "unavailable", true, false},
		{"hang", "timeout", true, true},
		{"lose", "unavailable", true, true},
		{"status=503", "unavailable", true, false},
		{"status=500", "unavailable", true, false},
		{"status=408", "unavailable", true, false},
		{"status=429,retry-after=0", "rate_limited", true, false},
		{"status=429,retry-after=1", "rate_limited", true, false},
		{"status=429,retry-after=60", "rate_limited", false, false}, // no deadline holds the wait
		{"status=401", "denied", false, false},
		{"status=403", "denied", false, false},
		{"status=404", "not_found", false, false},
		{"status=409", "conflict", false, false},
		{"status=422", "invalid", false, false},
		{slow, "timeout", true, true},
		{"garble", "bad_answer", true, true},
		{"truncate", "bad_answer", true, true},
		{"stall", "timeout", true, true},
		{"redirect", "misconfigured", false, false},
		{"fail_after_commit", "unavailable", true, true},
	}
}

// world is one way to set up the server and Kitebase.
type world struct {
	keys, dedupe bool
	once         bool // faults strike one request, not all
	blind        bool // faults strike get_ticket as well, so that nothing can be settled by reading
	timeouts     bool // the faults that end in a timeout, rather than all others
}

func (w world) String() string {
	times := "until cleared"
	if w.once {
		times = "once"
	}
	faults := "answers"
	if w.timeouts {
		faults = "timeouts"
	}
	return fmt.Sprintf("keys=%t,dedupe=%t,blind=%t/%s,%s", w.keys, w.dedupe, w.blind, faults, times)
}

// TestFaults meets every fault with every tool. What it guards: customers who got the same email twice because the answer
// to the first one was lost, and models that were told "failed" about a reply that had gone out.
//
// It is not parallel to other tests, and all its servers stand before the first call: what starting a process costs could
// make a healthy answer come too late.
func TestFaults(t *testing.T) {
	for _, base := range []world{
		{keys: true, dedupe: true}, {keys: true}, {dedupe: true}, {}, {keys: true, dedupe: true, blind: true}, {dedupe: true, blind: true},
	} {
		for i := range 4 {
			w := base
			w.once, w.timeouts = i%2 == 0, i/2 == 0
			run := newFaultRun(t, w)
			t.Run(w.String(), func(t *testing.T) {
				t.Parallel()
				run.all(t)
			})
		}
	}
}

// faultRun is one child and one fake, which meet one fault after the other.
type faultRun struct {
	world
	kitebase *upstream
	server   *child
	schemas  schemas
}

func newFaultRun(t *testing.T, w world) *faultRun {
	kitebase := startUpstream(t, fakeapi.Config{IgnoreKeys: !w.keys})
	args := []string{"--url", kitebase.url, fmt.Sprintf("--upstream-keys=%t", w.keys), fmt.Sprintf("--dedupe=%t", w.dedupe),
		"--breaker-threshold=-1", "--retry-budget=-1", "--repeat-guard=false", "--fallback-age=0s"} // one fault must not hide the next
	if w.timeouts { // else the default, which an answer on a busy machine does not miss
		args = append(args, "--attempt-timeout=1200ms")
	}
	server := start{args: args}.serve(t)
	return &faultRun{w, kitebase, server, outputSchemas(t, server)}
}

func (f *faultRun) all(t *testing.T) {
	f.server.t = t
	defer f.server.end()
	for i, fault := range faults() {
		if f.timeouts != (fault.kind == "timeout") {
			continue
		}
		t.Run(fault.spec, func(t *testing.T) {
			// The other tools do not depend on keys and dedupe: one world of them is enough.
			if f.keys && f.dedupe && !f.blind {
				f.harmless(t, fault)
			}
			f.reply(t, fault, fmt.Sprintf("KITE-%d", 101+i))
		})
	}
	for _, request := range f.kitebase.Requests() {
		require.NotEmpty(t, request.Operation, "a request for %s: a redirect was followed", request.Path)
	}
}

func (f *faultRun) strike(t *testing.T, tool string, fault fault) {
	t.Helper()
	spec := tool + "=" + fault.spec
	if f.once {
		spec += ":1"
	}
	f.kitebase.fault(t, spec)
}

// harmless meets the fault with the four tools that send nothing, all at once.
func (f *faultRun) harmless(t *testing.T, fault fault) {
	calls := []struct{ tool, arguments string }{
		{"search_help", `{"query":"locked out"}`},
		{"get_ticket", `{"ticket_id":"KITE-142"}`},
		{"search_tickets", `{"query":"sso","status":"open"}`},
		{"assign_ticket", `{"ticket_id":"KITE-142","assignee":"priya"}`},
	}
	before := len(f.kitebase.Requests())
	var ids []string
	for _, call := range calls {
		f.strike(t, call.tool, fault)
		ids = append(ids, f.server.send(call.tool, call.arguments))
	}
	var results []result
	for _, id := range ids {
		results = append(results, f.server.await(id).result(t))
	}
	f.kitebase.settle()
	f.kitebase.ClearFaults()
	for i, call := range calls {
		t.Run(call.tool, func(t *testing.T) {
			r := results[i]
			f.schemas.check(t, call.tool, r)
			require.Equal(t, f.kitebase.requestsOf(call.tool, before), r.attempts(t), "attempts told, requests counted")
			want := fault.kind
			if f.once && fault.transient {
				want = "ok"
			}
			require.Equal(t, want, r.kind(), r.text())
		})
	}
}

// reply meets the fault with a reply, and repeats it when all is well again.
func (f *faultRun) reply(t *testing.T, fault fault, ticket string) {
	const tool = "reply_to_customer"
	arguments := fmt.Sprintf(`{"ticket_id":%q,"message":"We are on it."}`, ticket)
	f.strike(t, tool, fault)
	if f.blind {
		f.strike(t, "get_ticket", fault)
	}
	send := func() result {
		before := len(f.kitebase.Requests())
		r := f.server.call(tool, arguments)
		f.kitebase.settle()
		f.schemas.check(t, tool, r)
		require.Equal(t, f.kitebase.requestsOf(tool, before), r.attempts(t), "attempts told, requests counted: %s", r.text())
		requireTrue(t, r, f.kitebase.emailsTo(ticket))
		return r
	}
	var first result
	t.Run(tool, func(t *testing.T) {
		first = send()
		require.LessOrEqual(t, len(f.kitebase.emailsTo(ticket)), 1)
		require.Contains(t, f.wantReply(fault), first.kind(), first.text())
	})
	f.kitebase.ClearFaults()
	t.Run(tool+" repeated", func(t *testing.T) {
		sentBefore := len(f.kitebase.emailsTo(ticket)) > 0
		again := send()
		if f.keys || f.dedupe {
			require.LessOrEqual(t, len(f.kitebase.emailsTo(ticket)), 1, "the customer got the same email twice")
		}
		switch unknown := first.IsError && first.Meta.Error.Outcome == "unknown"; {
		case (f.dedupe || f.keys) && sentBefore: // without a ledger Kitebase still knows its key
			require.True(t, again.reply(t).AlreadySent)
		case f.dedupe && unknown:
			require.Equal(t, "held", again.kind(), "the horizon of settling has not passed: %s", again.text())
		default:
			require.False(t, again.reply(t).AlreadySent)
		}
	})
}

// wantReply returns the kinds that the first answer may have.
func (f *faultRun) wantReply(fault fault) []string {
	switch {
	case f.keys && f.once && fault.transient:
		return []string{"ok"} // the same key again
	case f.blind || !f.dedupe || !fault.committed:
		return []string{fault.kind}
	case fault.spec == slow:
		return []string{"ok", "timeout"} // the ticket is read before or after the reply stands there; both are honest
	default:
		return []string{"ok"} // found by reading
	}
}
