package resilience_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/server/resilience"
)

// last is a fallback that knows the last good answer.
type last struct {
	mu     sync.Mutex
	copied resilience.Copy
	kept   []resilience.Answer
	finds  int
}

func (l *last) config() *resilience.FallbackConfig {
	return &resilience.FallbackConfig{
		Keep: func(_ context.Context, _ mcp.CallToolRequest, good resilience.Answer) {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.kept = append(l.kept, good)
			l.copied = resilience.Copy{Result: good.Result, AsOf: time.Now(), ServedBy: "copy"}
		},
		Find: func(context.Context, mcp.CallToolRequest) (resilience.Copy, bool) {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.finds++
			return l.copied, l.copied.Result != nil
		},
	}
}

func TestFallback(t *testing.T) {
	bubble(t, "a failed read is answered from a copy, which says so everywhere", func(t *testing.T) {
		seen := new(last)
		call := guard(t, reads(does(succeeds, fails(reset)).handle), resilience.Policy{Fallback: seen.config()})
		first := call(t.Context())
		asOf := time.Now()
		time.Sleep(3*time.Minute + 20*time.Second)
		copied := call(t.Context())
		require.False(t, copied.IsError)
		object := `{"note":"Kitebase is not answering; this copy is from ` + asOf.UTC().Format("15:04") + ` UTC, 3 minutes ago.",` +
			`"served_by":"copy","as_of":"` + asOf.UTC().Format(time.RFC3339) + `","reply_id":"rpl_001"}`
		require.Equal(t, object, string(copied.RawStructuredContent))
		require.Equal(t, "Kitebase is not answering; this copy is from "+asOf.UTC().Format("15:04")+" UTC, 3 minutes ago.\n"+object, text(copied))
		require.Equal(t, map[string]any{
			resilience.MetaServedBy: "copy", resilience.MetaAsOf: asOf.UTC().Format(time.RFC3339), resilience.MetaAttempts: 2,
		}, copied.Meta.AdditionalFields)
		require.NotContains(t, first.Meta.AdditionalFields, resilience.MetaServedBy, "what was copied is not touched")
		require.Len(t, seen.kept, 1, "a copy is not kept as an answer")
		require.Equal(t, text(copied)[:80], text(call(t.Context()))[:80], "a copy does not pile up notes")
	})
	bubble(t, "it is no cache: the upstream is always asked first", func(t *testing.T) {
		seen, h := new(last), does(succeeds)
		call := guard(t, reads(h.handle), resilience.Policy{Fallback: seen.config()})
		for range 3 {
			require.NotContains(t, call(t.Context()).Meta.AdditionalFields, resilience.MetaServedBy)
		}
		require.Equal(t, []int{3, 0}, []int{h.runs, seen.finds})
	})
	bubble(t, "it serves while the circuit is open", func(t *testing.T) {
		seen, h := new(last), does(succeeds, fails(reset))
		call := guard(t, reads(h.handle), resilience.Policy{
			Fallback: seen.config(), Circuit: resilience.NewCircuit(resilience.BreakerConfig{Threshold: 1}), Attempts: -1,
		})
		call(t.Context())
		call(t.Context())
		copied := call(t.Context())
		require.Equal(t, "copy", copied.Meta.AdditionalFields[resilience.MetaServedBy])
		require.Equal(t, 0, attempts(copied))
		require.Equal(t, 2, h.runs)
	})
	bubble(t, "without a copy the failure is told", func(t *testing.T) {
		call := guard(t, reads(does(fails(reset)).handle), resilience.Policy{Fallback: new(last).config()})
		require.Equal(t, resilience.Unavailable, info(t, call(t.Context())).Kind)
	})
	bubble(t, "when a call began is told, so that older knowledge is recognised", func(t *testing.T) {
		seen, began := new(last), time.Now()
		guard(t, reads(does(takes(time.Second, succeeds)).handle), resilience.Policy{Fallback: seen.config()})(t.Context())
		require.Equal(t, began, seen.kept[0].Began)
	})
	bubble(t, "an error result of the handler is neither kept nor bridged", func(t *testing.T) {
		seen := new(last)
		h := does(func(context.Context) (*mcp.CallToolResult, error) { return mcp.NewToolResultError("no"), nil })
		require.True(t, guard(t, reads(h.handle), resilience.Policy{Fallback: seen.config()})(t.Context()).IsError)
		require.Empty(t, seen.kept)
		require.Zero(t, seen.finds)
	})
	bubble(t, "a tool that changes something never has one", func(t *testing.T) {
		seen := new(last)
		policy := resilience.Policy{Fallback: seen.config(), Attempts: -1}
		for _, tool := range []kindOfTool{sets, sends} {
			call := guard(t, tool(does(succeeds, fails(down)).handle), policy)
			call(t.Context())
			require.True(t, call(t.Context()).IsError)
		}
		require.Empty(t, seen.kept)
		require.Zero(t, seen.finds)
	})
}

func TestWhatAFallbackBridges(t *testing.T) {
	bridged := map[resilience.Kind]string{
		resilience.Unavailable: "Kitebase is not answering", resilience.TimedOut: "Kitebase is not answering",
		resilience.BadAnswer: "Kitebase is not answering", resilience.CircuitOpen: "Kitebase is not answering",
		resilience.RateLimited: "Kitebase is limiting requests", resilience.Busy: "Too many calls of this tool are under way",
		resilience.Invalid: "", resilience.NotFound: "", resilience.Conflict: "", resilience.KeyReused: "", resilience.Held: "",
		resilience.Denied: "", resilience.Misconfigured: "", resilience.InProgress: "", resilience.Canceled: "", resilience.Internal: "",
	}
	for kind, words := range bridged {
		bubble(t, string(kind), func(t *testing.T) {
			seen := new(last)
			h := does(succeeds, fails(&resilience.Failure{What: kind, Effect: idempotency.NotDone}))
			call := guard(t, reads(h.handle), resilience.Policy{Fallback: seen.config(), Attempts: -1})
			call(t.Context())
			time.Sleep(time.Minute)
			got := call(t.Context())
			require.Equal(t, words == "", got.IsError)
			if words != "" {
				require.Contains(t, text(got), words+"; this copy is from ")
				require.Contains(t, text(got), "1 minute ago.")
			}
		})
	}
}
