package resilience_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/server/resilience"
)

// outageWords is what a model reads in an outage, as the layers say it.
func outageWords(t *testing.T) []txtar.File {
	t.Helper()
	alone := resilience.Policy{Attempts: -1}
	circuit := func(instead string) *resilience.Circuit {
		return resilience.NewCircuit(resilience.BreakerConfig{Threshold: 1, Instead: func() string { return instead }})
	}
	said := func(name string, words func(t *testing.T, say func(string))) txtar.File {
		var all strings.Builder
		synctest.Test(t, func(t *testing.T) { words(t, func(text string) { all.WriteString(text) }) })
		return txtar.File{Name: "outage/" + name, Data: []byte(all.String())}
	}
	return []txtar.File{
		said("the circuit is open", func(t *testing.T, say func(string)) {
			for _, instead := range []string{"search_tickets", ""} {
				policy := alone
				policy.Circuit = circuit(instead)
				call := guard(t, reads(does(fails(reset)).handle), policy)
				call(t.Context())
				time.Sleep(12*time.Second + 300*time.Millisecond)
				say(tell(t, call))
			}
			policy := alone
			policy.Circuit = circuit("")
			call := guard(t, sends(does(fails(down)).handle), policy)
			call(t.Context())
			say(tell(t, call))
		}),
		said("a probe is under way", func(t *testing.T, say func(string)) {
			policy := alone
			policy.Circuit = circuit("")
			call := guard(t, reads(does(fails(reset), hangs).handle), policy)
			call(t.Context())
			time.Sleep(cooldown)
			probe := crowd(t.Context(), 1, call)
			say(tell(t, call))
			<-probe
		}),
		said("busy", func(t *testing.T, say func(string)) {
			policy := alone
			policy.Bulkhead = &resilience.BulkheadConfig{Queue: -1}
			for _, tool := range []kindOfTool{reads, sends} {
				call := guard(t, tool(does(hangs).handle), policy)
				busy := crowd(t.Context(), 64, call)
				say(tell(t, call))
				for range 64 {
					<-busy
				}
			}
		}),
		said("the budget is spent", func(t *testing.T, say func(string)) {
			for _, why := range []error{reset, &resilience.Failure{What: resilience.RateLimited, Wait: time.Second, Effect: idempotency.NotDone}} {
				for _, tool := range []kindOfTool{reads, sets} {
					say(tell(t, guard(t, tool(does(fails(why)).handle), resilience.Policy{Budget: resilience.NewRetryBudget(1)})))
				}
			}
		}),
		said("blocked", func(t *testing.T, say func(string)) {
			policy := alone
			policy.RepeatGuard = &resilience.RepeatGuardConfig{}
			for _, tool := range []kindOfTool{reads, sends} {
				call := guard(t, tool(does(fails(missing)).handle), policy)
				call(t.Context())
				call(t.Context())
				say(tell(t, call))
			}
		}),
		said("a copy", func(t *testing.T, say func(string)) {
			policy := alone
			policy.Fallback = new(last).config()
			for _, why := range []resilience.Kind{resilience.Unavailable, resilience.RateLimited, resilience.Busy} {
				call := guard(t, reads(does(succeeds, fails(&resilience.Failure{What: why})).handle), policy)
				call(t.Context())
				time.Sleep(3 * time.Minute)
				say(text(call(t.Context())) + "\n")
			}
		}),
	}
}
