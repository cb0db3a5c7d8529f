package resilience_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/server/resilience"
)

func withToolUse(id string) option {
	return func(r *mcp.CallToolRequest) {
		withMessage("We are on it.")(r)
		r.Params.Meta = &mcp.Meta{AdditionalFields: map[string]any{"claudecode/toolUseId": id}}
	}
}

// Each call is observed once, however it ends. Without its times and its name an observation is exact.
func TestObserve(t *testing.T) {
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	knew := func(*mcp.CallToolResult) (time.Time, bool) { return time.Now(), true }
	missing := fails(&resilience.Failure{What: resilience.Invalid, Says: "ticket_id is missing.", Effect: idempotency.NotDone, NotRun: true})
	copied := &resilience.FallbackConfig{
		Keep: func(context.Context, mcp.CallToolRequest, resilience.Answer) {},
		Find: func(context.Context, mcp.CallToolRequest) (resilience.Copy, bool) {
			result, _ := succeeds(context.Background())
			return resilience.Copy{Result: result, AsOf: time.Now(), ServedBy: "copy"}, true
		},
	}
	const done, notDone, unknown = idempotency.Done, idempotency.NotDone, idempotency.Unknown
	for name, c := range map[string]struct {
		tool   func(mcpserver.ToolHandlerFunc) mcpserver.ServerTool
		does   *handler
		policy resilience.Policy
		ctx    context.Context
		want   resilience.Observation
	}{
		"a success": {reads, does(succeeds), resilience.Policy{}, nil,
			resilience.Observation{Tool: "get_ticket", Attempts: 1, Outcome: done}},
		"one after a retry": {reads, does(fails(down), succeeds), resilience.Policy{}, nil,
			resilience.Observation{Tool: "get_ticket", Attempts: 2, Outcome: done}},
		"a failure": {reads, does(fails(down)), resilience.Policy{}, nil,
			resilience.Observation{Tool: "get_ticket", Kind: resilience.Unavailable, Attempts: 2, Outcome: notDone}},
		"a write that may have been made": {sends, does(fails(reset)), resilience.Policy{}, nil,
			resilience.Observation{Tool: "reply_to_customer", Kind: resilience.Unavailable, Attempts: 1, Outcome: unknown}},
		"bad arguments": {sets, does(missing), resilience.Policy{}, nil,
			resilience.Observation{Tool: "assign_ticket", Kind: resilience.Invalid, Outcome: notDone}},
		"a panic": {sets, does(panics), resilience.Policy{}, nil,
			resilience.Observation{Tool: "assign_ticket", Kind: resilience.Internal, Attempts: 1, Outcome: unknown}},
		"a caller that had left": {sends, does(succeeds), resilience.Policy{}, gone,
			resilience.Observation{Tool: "reply_to_customer", Kind: resilience.Canceled, Outcome: notDone}},
		"a failure that the handler worded": {reads, does(func(context.Context) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultError("no"), nil
		}), resilience.Policy{}, nil,
			resilience.Observation{Tool: "get_ticket", Kind: resilience.Internal, Attempts: 1, Outcome: unknown}},
		"a copy": {reads, does(fails(down)), resilience.Policy{Fallback: copied}, nil,
			resilience.Observation{Tool: "get_ticket", Attempts: 2, Outcome: done, ServedBy: "copy"}},
		"our retry met what we had sent": {sends, does(fails(reset), succeeds), resilience.Policy{Keyed: yes, Replayed: knew}, nil,
			resilience.Observation{Tool: "reply_to_customer", Attempts: 2, Outcome: done, RepeatedBy: "retry"}},
		"the upstream had it, we do not know from whom": {sends, does(succeeds), resilience.Policy{Keyed: yes, Replayed: knew}, nil,
			resilience.Observation{Tool: "reply_to_customer", Attempts: 1, Outcome: done, Replayed: true}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var seen []resilience.Observation
				c.policy.Observe = func(_ context.Context, o resilience.Observation) { seen = append(seen, o) }
				ctx := c.ctx
				if ctx == nil {
					ctx = t.Context()
				}
				guard(t, c.tool(c.does.handle), c.policy)(ctx)
				require.Len(t, seen, 1)
				require.NotEmpty(t, seen[0].CallID)
				seen[0].CallID, seen[0].Began, seen[0].Took, seen[0].Trying = "", time.Time{}, 0, 0
				require.Equal(t, c.want, seen[0])
			})
		})
	}
}

func TestObserveTellsWhoRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, by := deskThat(succeeds), []string{}
		policy := d.policy()
		policy.Observe = func(_ context.Context, o resilience.Observation) {
			require.Equal(t, o.RepeatedBy != "", o.Replayed)
			by = append(by, o.RepeatedBy)
		}
		reply := guard(t, sends(d.handle), policy)
		for _, id := range []string{"a", "a", "b"} {
			reply(t.Context(), withToolUse(id))
		}
		require.Equal(t, []string{"", "host", "model"}, by)
	})
}

func TestObserveTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		arrived := time.Now()
		time.Sleep(time.Second)
		began := time.Now()
		busy := &resilience.Failure{What: resilience.RateLimited, Wait: 2 * time.Second, Effect: idempotency.NotDone}
		guard(t, reads(does(takes(3*time.Second, fails(busy)), takes(4*time.Second, succeeds)).handle), resilience.Policy{
			Observe: func(_ context.Context, o resilience.Observation) {
				require.Equal(t, began, o.Began)
				require.Equal(t, 9*time.Second, o.Took)
				require.Equal(t, 7*time.Second, o.Trying, "without the wait between")
				require.Equal(t, time.Second, o.Queued)
			},
		})(resilience.WithArrival(t.Context(), arrived))
		require.Equal(t, 9*time.Second, time.Since(began))
	})
}

// What waits for a place in the bulkhead is queued as well.
func TestObserveQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		queued := make(chan time.Duration, 2)
		read := guard(t, reads(does(takes(3*time.Second, succeeds)).handle), resilience.Policy{
			Bulkhead: &resilience.BulkheadConfig{Calls: 1, Queue: 1},
			Observe:  func(_ context.Context, o resilience.Observation) { queued <- o.Queued },
		})
		go read(t.Context())
		synctest.Wait()
		read(t.Context())
		require.Zero(t, <-queued)
		require.Equal(t, 3*time.Second, <-queued)
	})
}
