package resilience_test

import (
	"context"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/idempotency"
)

// A process was stopped for longer than its lease, as by a laptop that is closed. Others took its claim over, found nothing in the
// ticket and gave the reply up. Then it woke and sent it, and the ledger went on to say that it was not sent.
func TestSentAfterItWasGivenUp(t *testing.T) {
	for name, state := range map[string]idempotency.State{
		"given up": idempotency.Abandoned, "unknown": idempotency.Unconfirmed, "claimed by another": idempotency.Claimed, "forgotten": "",
	} {
		bubble(t, name, func(t *testing.T) {
			var ledger *idempotency.Ledger
			d := deskThat(func(ctx context.Context) (*mcp.CallToolResult, error) {
				others, err := ledger.Look(ctx, idempotency.Fingerprint("KITE-142", "Any update?"))
				require.NoError(t, err)
				require.Equal(t, idempotency.Claimed, others.State)
				if state == "" {
					require.NoError(t, ledger.Forget(ctx, others))
				} else {
					others.State = state
					require.NoError(t, ledger.Save(ctx, &others))
				}
				return succeeds(ctx)
			})
			policy := d.policy()
			ledger = policy.Dedupe.Ledger
			call := guard(t, sends(d.handle), policy)
			require.False(t, call(t.Context(), withMessage("Any update?")).IsError)

			record, err := ledger.Look(t.Context(), idempotency.Fingerprint("KITE-142", "Any update?"))
			require.NoError(t, err)
			require.Equal(t, idempotency.Finished, record.State)
			require.Equal(t, "answer", record.Evidence)
			again := call(t.Context(), withMessage("Any update?"))
			require.Contains(t, text(again), "already_sent")
			require.Equal(t, 1, d.runs)
		})
	}
}
