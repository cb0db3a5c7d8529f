package resilience_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/server/resilience"
)

// An upstream may know a key for longer than our ledger does. What it replays of then was not sent now, also if the first
// answer of this call was lost.
func TestUpstreamKnowsFromBefore(t *testing.T) {
	for name, tt := range map[string]struct {
		age    time.Duration
		lost   bool // the answer to the first attempt
		runs   int
		repeat bool
	}{
		"an hour ago":                       {time.Hour, false, 1, true},
		"an hour ago, by a second attempt":  {time.Hour, true, 2, true},
		"just now, by a second attempt":     {0, true, 2, false},
		"two days ago, by a second attempt": {48 * time.Hour, true, 2, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(100 * time.Hour)
				sentAt := time.Now().Add(-tt.age)
				first := idempotency.GenerationKey(1, "KITE-142", "hello")
				answers := func(ctx context.Context) (*mcp.CallToolResult, error) {
					result, err := succeeds(ctx)
					if idempotency.KeyFrom(ctx) == first {
						result.Meta = mcp.NewMetaFromMap(map[string]any{"known": sentAt})
					}
					return result, err
				}
				d := deskThat(answers, answers, answers)
				if tt.lost {
					d = deskThat(fails(reset), answers, answers)
				}
				known := func(result *mcp.CallToolResult) time.Time {
					if result.Meta == nil {
						return time.Time{}
					}
					at, _ := result.Meta.AdditionalFields["known"].(time.Time)
					return at
				}
				policy := d.policy()
				policy.Replayed = func(result *mcp.CallToolResult) (time.Time, bool) { at := known(result); return at, !at.IsZero() }
				policy.Dedupe.SentAt = known
				result := guard(t, sends(d.handle), policy)(t.Context(), withMessage("hello"))
				require.False(t, result.IsError)
				require.Equal(t, tt.repeat, result.Meta.AdditionalFields[resilience.MetaReplayed] == true)
				require.Equal(t, tt.runs, d.runs)
			})
		})
	}
}
