package resilience_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server/resilience"
)

func TestPolicyValidate(t *testing.T) {
	ledger := inMemory()
	cases := []struct {
		policy resilience.Policy
		names  string // "" if the policy is good
	}{
		{resilience.Policy{}, ""},
		{resilience.Policy{Attempts: -1, AttemptTimeout: -1, CallDeadline: -1}, ""},
		{resilience.Policy{CallDeadline: -1, AttemptTimeout: time.Hour}, ""},
		{resilience.Policy{Attempts: -2}, "Attempts"},
		{resilience.Policy{AttemptTimeout: -time.Second}, "AttemptTimeout"},
		{resilience.Policy{CallDeadline: -time.Second}, "CallDeadline"},
		{resilience.Policy{AttemptTimeout: time.Minute}, "AttemptTimeout"},
		{resilience.Policy{BackoffBase: -1}, "BackoffBase"},
		{resilience.Policy{BackoffCap: time.Millisecond}, "BackoffCap"},
		{everything(), ""},
		{resilience.Policy{Circuit: resilience.NewCircuit(resilience.BreakerConfig{Threshold: -2})}, "Circuit.Threshold"},
		{resilience.Policy{Circuit: resilience.NewCircuit(resilience.BreakerConfig{Cooldown: -1})}, "Circuit.Cooldown"},
		{resilience.Policy{Bulkhead: &resilience.BulkheadConfig{Calls: -1, Queue: -1}}, ""},
		{resilience.Policy{Bulkhead: &resilience.BulkheadConfig{Calls: -2}}, "Bulkhead.Calls"},
		{resilience.Policy{Fallback: &resilience.FallbackConfig{}}, "Fallback.Keep"},
		{resilience.Policy{RepeatGuard: &resilience.RepeatGuardConfig{Failures: -1}}, "RepeatGuard.Failures"},
		{resilience.Policy{Dedupe: &resilience.DedupeConfig{}}, "Dedupe.Ledger"},
		{resilience.Policy{Dedupe: &resilience.DedupeConfig{Ledger: ledger}}, "Dedupe.Identify"},
		{resilience.Policy{Dedupe: &resilience.DedupeConfig{Ledger: ledger, Identify: identify, Window: -1}}, "Dedupe.Window"},
		{resilience.Policy{Dedupe: &resilience.DedupeConfig{Ledger: ledger, Identify: identify}}, ""},
	}
	for _, c := range cases {
		_, err := resilience.Wrap(reads(does(succeeds).handle), c.policy)
		if c.names == "" {
			require.NoError(t, err, "%+v", c.policy)
			continue
		}
		require.ErrorContains(t, err, c.names)
		require.ErrorContains(t, err, "get_ticket")
	}
}
