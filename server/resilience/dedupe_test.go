package resilience_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/server/resilience"
)

func identify(request mcp.CallToolRequest) (idempotency.Identity, error) {
	text, _ := request.GetArguments()["message"].(string)
	if text == "" {
		return idempotency.Identity{}, &resilience.Failure{What: resilience.Invalid, Says: "message is missing.", NotRun: true, Effect: idempotency.NotDone}
	}
	return idempotency.Identity{
		Fingerprint: idempotency.Fingerprint("KITE-142", text), Group: "KITE-142",
		Key: func(generation int) string { return idempotency.GenerationKey(generation, "KITE-142", text) },
	}, nil
}

func message(text string) mcp.CallToolRequest {
	request := mcp.CallToolRequest{}
	withMessage(text)(&request)
	return request
}

// desk is a reply tool with a ledger, and what a look at the help desk would show.
type desk struct {
	*handler
	mu      sync.Mutex // for looks in the background
	look    resilience.Settlement
	looks   int
	renewed bool
}

func (d *desk) policy() resilience.Policy {
	return resilience.Policy{Keyed: yes, Dedupe: &resilience.DedupeConfig{
		Ledger:   inMemory(),
		Identify: identify,
		Settle: func(context.Context, idempotency.Record) resilience.Settlement {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.looks++
			return d.look
		},
		Renewed: func(context.Context, idempotency.Record) bool { return d.renewed },
		Noun:    "reply", Check: "get_ticket",
		Name: func(*mcp.CallToolResult) string { return "rpl_001" },
	}}
}

// sees sets what a look shows, and looked returns how many there were, while looks go on in the background.
func (d *desk) sees(look resilience.Settlement) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.look = look
}

func (d *desk) looked() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.looks
}

func deskThat(steps ...func(context.Context) (*mcp.CallToolResult, error)) *desk {
	return &desk{handler: does(steps...)}
}

func found() resilience.Settlement {
	result, _ := succeeds(context.Background())
	return resilience.Settlement{Outcome: idempotency.Done, Result: result}
}

const marked = `{"note":"Already done: this exact reply went through at 00:00:00 UTC and was not made again; this is its first result. ` +
	`To make it once more on purpose, change its content.","already_sent":true,"first_sent_at":"2000-01-01T00:00:00Z","reply_id":"rpl_001"}`

func TestDedupe(t *testing.T) {
	run := func(name string, test func(t *testing.T)) {
		t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
	}
	run("a repeat of a success gets the first result and runs nothing", func(t *testing.T) {
		d := deskThat(succeeds)
		call := guard(t, sends(d.handle), d.policy())
		first := call(t.Context(), withMessage("Any update?"))
		require.JSONEq(t, `{"reply_id":"rpl_001"}`, string(first.RawStructuredContent))
		require.Nil(t, first.Meta.AdditionalFields[resilience.MetaReplayed])
		require.Equal(t, []string{"9edb4ee9f524df95"}, d.keys, "the handler is given the key")

		time.Sleep(time.Hour)
		again := call(t.Context(), withMessage(" Any update?\r\n"))
		require.Equal(t, 1, d.runs)
		require.Equal(t, marked, string(again.RawStructuredContent))
		note, object, _ := cutLine(text(again))
		require.Contains(t, note, "Already done")
		require.Equal(t, marked, object, "text and object tell the same")
		require.Equal(t, true, again.Meta.AdditionalFields[resilience.MetaReplayed])
		require.Equal(t, 0, attempts(again))
	})
	run("another text is another call", func(t *testing.T) {
		d := deskThat(succeeds)
		call := guard(t, sends(d.handle), d.policy())
		call(t.Context(), withMessage("one"))
		call(t.Context(), withMessage("two"))
		require.Equal(t, 2, d.runs)
	})
	run("after the window it is a new generation", func(t *testing.T) {
		d := deskThat(succeeds)
		call := guard(t, sends(d.handle), d.policy())
		call(t.Context(), withMessage("Any update?"))
		time.Sleep(24 * time.Hour)
		call(t.Context(), withMessage("Any update?"))
		require.Equal(t, []string{"9edb4ee9f524df95", idempotency.GenerationKey(2, "KITE-142", "Any update?")}, d.keys)
	})
	run("and when the customer has written since", func(t *testing.T) {
		d := deskThat(succeeds)
		call := guard(t, sends(d.handle), d.policy())
		call(t.Context(), withMessage("Any update?"))
		d.renewed = true
		call(t.Context(), withMessage("Any update?"))
		require.Equal(t, 2, d.runs)
		require.NotEqual(t, d.keys[0], d.keys[1])
	})
	run("a certain failure is forgotten, not replayed", func(t *testing.T) {
		d := deskThat(fails(&resilience.Failure{What: resilience.Denied, Effect: idempotency.NotDone}), succeeds)
		call := guard(t, sends(d.handle), d.policy())
		require.True(t, call(t.Context(), withMessage("x")).IsError)
		require.False(t, call(t.Context(), withMessage("x")).IsError)
		require.Equal(t, d.keys[0], d.keys[1])
		require.Zero(t, d.looks, "what is certain needs no look")
	})
	run("an unknown outcome is settled by looking, within the same call", func(t *testing.T) {
		d := deskThat(fails(reset))
		d.look = found()
		result := guard(t, sends(d.handle), d.policy())(t.Context(), withMessage("x"))
		require.False(t, result.IsError)
		require.Equal(t, 2, attempts(result))
		require.Contains(t, text(result), "The answer was lost")
		require.Contains(t, string(result.RawStructuredContent), `"note":"The answer was lost`)
	})
	run("what stays unknown is told, and a repeat is settled first", func(t *testing.T) {
		d := deskThat(fails(reset), fails(reset), succeeds)
		d.look.Wait = 12 * time.Second
		call := guard(t, sends(d.handle), d.policy())
		require.Equal(t, "unknown", info(t, call(t.Context(), withMessage("x"))).Outcome)

		held := call(t.Context(), withMessage("x"))
		require.Equal(t, "Error: reply_to_customer was not run: this exact reply was made before, and whether it went through is "+
			"still unconfirmed. Check with get_ticket before you repeat it. Make the same call again in 12s: then it can be settled.", text(held))
		require.Equal(t, resilience.ErrorInfo{Kind: "held", Next: "check", RetryAfterMS: 12_000, Outcome: "unknown"}, info(t, held))
		require.Equal(t, 2, d.runs, "nothing was sent")

		d.look = found()
		require.Equal(t, marked, string(call(t.Context(), withMessage("x")).RawStructuredContent))
		d.look = resilience.Settlement{}
		require.Equal(t, marked, string(call(t.Context(), withMessage("x")).RawStructuredContent), "settled for good")
		require.Equal(t, 2, d.runs)
	})
	run("what was certainly not done is sent after all, under the same key", func(t *testing.T) {
		d := deskThat(fails(reset), fails(reset), succeeds)
		call := guard(t, sends(d.handle), d.policy())
		call(t.Context(), withMessage("x"))
		d.look.Outcome = idempotency.NotDone
		require.False(t, call(t.Context(), withMessage("x")).IsError)
		require.Equal(t, []string{d.keys[0], d.keys[0], d.keys[0]}, d.keys)
	})
	run("a look that says done without showing it settles nothing", func(t *testing.T) {
		d := deskThat(fails(reset))
		d.look.Outcome = idempotency.Done
		require.Equal(t, "unknown", info(t, guard(t, sends(d.handle), d.policy())(t.Context(), withMessage("x"))).Outcome)
	})
	run("a panic leaves the call unconfirmed, never free", func(t *testing.T) {
		d := deskThat(panics, succeeds)
		call := guard(t, sends(d.handle), d.policy())
		require.Equal(t, "unknown", info(t, call(t.Context(), withMessage("x"))).Outcome)
		require.Equal(t, resilience.Held, info(t, call(t.Context(), withMessage("x"))).Kind)
		require.Equal(t, 1, d.runs)
	})
	run("arguments without an identity are refused by Identify's own words", func(t *testing.T) {
		d := deskThat(succeeds)
		require.Equal(t, "Error: reply_to_customer was not run: message is missing.", text(guard(t, sends(d.handle), d.policy())(t.Context())))
	})
	run("a ledger that fails before the sending stops it", func(t *testing.T) {
		d := deskThat(succeeds)
		policy := d.policy()
		policy.Dedupe.Ledger = idempotency.NewLedger(&brokenStore{claim: errors.New("disk full")}, idempotency.Config{})
		result := guard(t, sends(d.handle), policy)(t.Context(), withMessage("x"))
		require.Equal(t, "not_done", info(t, result).Outcome)
		require.Zero(t, d.runs)
	})
	run("one that fails after it does not make the answer a lie", func(t *testing.T) {
		d := deskThat(succeeds)
		policy := d.policy()
		policy.Dedupe.Ledger = idempotency.NewLedger(&brokenStore{save: errors.New("disk full")}, idempotency.Config{})
		result := guard(t, sends(d.handle), policy)(t.Context(), withMessage("x"))
		require.False(t, result.IsError)
		require.Contains(t, text(result), "could not be recorded")
	})
}

func TestDedupeSharesACallUnderWay(t *testing.T) {
	t.Run("fifty identical calls at once run once", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			d := deskThat(takes(time.Second, succeeds))
			call := guard(t, sends(d.handle), d.policy())
			var repeats atomic.Int32
			var all sync.WaitGroup
			for range 50 {
				all.Go(func() {
					result := call(t.Context(), withMessage("x"))
					require.False(t, result.IsError)
					require.Contains(t, string(result.RawStructuredContent), `"reply_id":"rpl_001"`)
					if result.Meta.AdditionalFields[resilience.MetaReplayed] == true {
						repeats.Add(1)
					}
				})
			}
			all.Wait()
			require.Equal(t, 1, d.runs)
			require.EqualValues(t, 49, repeats.Load())
		})
	})
	t.Run("a failure is shared too, and counted once", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			d := deskThat(takes(time.Second, fails(&resilience.Failure{What: resilience.Denied, Says: "Kitebase refused the access token", Effect: idempotency.NotDone})))
			call := guard(t, sends(d.handle), d.policy())
			tried := make([]int, 3)
			var all sync.WaitGroup
			for i := range tried {
				all.Go(func() { tried[i] = info(t, call(t.Context(), withMessage("x"))).Attempts })
			}
			all.Wait()
			require.ElementsMatch(t, []int{0, 0, 1}, tried)
			require.Equal(t, 1, d.runs)
		})
	})
	t.Run("who leaves does not fail the others", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			d := deskThat(takes(time.Second, succeeds))
			call := guard(t, sends(d.handle), d.policy())
			first, leave := context.WithCancel(t.Context())
			second, leaveToo := context.WithCancel(t.Context())
			var all sync.WaitGroup
			all.Go(func() { call(first, withMessage("x")) })
			synctest.Wait()
			all.Go(func() {
				require.Equal(t, resilience.Canceled, info(t, call(second, withMessage("x"))).Kind)
				require.Equal(t, 0, d.runs-1, "still the first run")
			})
			all.Go(func() { require.False(t, call(t.Context(), withMessage("x")).IsError) })
			synctest.Wait()
			leave()
			leaveToo()
			all.Wait()
			require.Equal(t, 1, d.runs)
		})
	})
	t.Run("who waits does so within a deadline of its own", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			d := deskThat(takes(4*time.Second, succeeds))
			call := guard(t, sends(d.handle), d.policy())
			var all sync.WaitGroup
			all.Go(func() { require.False(t, call(t.Context(), withMessage("x")).IsError) })
			synctest.Wait()
			began := time.Now()
			held := call(t.Context(), withMessage("x"), func(r *mcp.CallToolRequest) {
				r.Params.Meta = &mcp.Meta{AdditionalFields: map[string]any{resilience.MetaDeadline: 500.0}}
			})
			require.Equal(t, 500*time.Millisecond, time.Since(began))
			require.Equal(t, "unknown", info(t, held).Outcome)
			all.Wait()
		})
	})
	t.Run("a panic ends the wait of those who joined", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			d := deskThat(takes(time.Second, panics))
			call := guard(t, sends(d.handle), d.policy())
			var all sync.WaitGroup
			for range 2 {
				all.Go(func() { require.Equal(t, "unknown", info(t, call(t.Context(), withMessage("x"))).Outcome) })
			}
			all.Wait()
			require.Equal(t, 1, d.runs)
		})
	})
}

// brokenStore fails where it is told to.
type brokenStore struct {
	idempotency.Memory
	claim, save error
}

func (b *brokenStore) Put(ctx context.Context, next idempotency.Record, expected int64) (idempotency.Record, bool, error) {
	if next.State == idempotency.Claimed && b.claim != nil {
		return idempotency.Record{}, false, b.claim
	}
	if next.State != idempotency.Claimed && b.save != nil {
		return idempotency.Record{}, false, b.save
	}
	return b.Memory.Put(ctx, next, expected)
}
