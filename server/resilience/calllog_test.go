package resilience_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/server/resilience"
)

// logOf returns a policy's logger and what it has logged, one object a record.
func logOf(t *testing.T, level slog.Level) (*slog.Logger, func() []map[string]any) {
	var lines bytes.Buffer
	return slog.New(slog.NewJSONHandler(&lines, &slog.HandlerOptions{Level: level})), func() []map[string]any {
		t.Helper()
		var records []map[string]any
		for line := range strings.Lines(lines.String()) {
			var record map[string]any
			require.NoError(t, json.Unmarshal([]byte(line), &record))
			delete(record, "time")
			records = append(records, record)
		}
		return records
	}
}

// Each call is one record at its end, and those in between have its name.
func TestCallLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, logged := logOf(t, slog.LevelInfo)
		policy := resilience.Policy{Logger: log, BackoffBase: 1, BackoffCap: 1}
		ctx := resilience.WithCallID(t.Context(), "c-1")
		guard(t, reads(does(takes(time.Second, fails(down)), takes(time.Second, succeeds)).handle), policy)(ctx)
		guard(t, reads(does(fails(down)).handle), policy)(resilience.WithCallID(ctx, "c-2"))
		records := logged()
		require.Len(t, records, 4)
		require.Equal(t, map[string]any{
			"level": "INFO", "msg": "attempt 1: no connection to Kitebase (KitebaseUnavailable). Retrying in 0s.",
			"call": "c-1", "kind": "unavailable", "wait_ms": 0.0,
		}, records[0])
		require.Equal(t, map[string]any{
			"level": "INFO", "msg": "call", "call": "c-1", "tool": "get_ticket", "outcome": "done", "attempts": 2.0,
			"took_ms": 2000.0, "queued_ms": 0.0, "trying_ms": 2000.0,
		}, records[1])
		require.Equal(t, "c-2", records[2]["call"])
		require.Equal(t, map[string]any{
			"level": "WARN", "msg": "call failed", "call": "c-2", "tool": "get_ticket", "outcome": "not_done", "attempts": 2.0,
			"kind": "unavailable", "cause": "unavailable: no connection to Kitebase", "took_ms": 0.0, "queued_ms": 0.0, "trying_ms": 0.0,
		}, records[3])
	})
}

// What the caller did wrong is nothing for whoever minds the server.
func TestCallLogLevels(t *testing.T) {
	for kind, level := range map[resilience.Kind]string{
		resilience.Invalid: "INFO", resilience.NotFound: "INFO", resilience.Canceled: "INFO",
		resilience.Denied: "WARN", resilience.Held: "WARN", resilience.Unavailable: "WARN", resilience.Internal: "ERROR",
	} {
		log, logged := logOf(t, slog.LevelInfo)
		failing := does(fails(&resilience.Failure{What: kind, Effect: idempotency.NotDone}))
		guard(t, reads(failing.handle), resilience.Policy{Logger: log, Attempts: -1})(t.Context())
		require.Len(t, logged(), 1, "one record a call")
		require.Equal(t, level, logged()[0]["level"], kind)
	}
}

// What a call leaves behind, such as the look that settles it, still belongs to it, but does not end with it.
func TestCallLogAfterTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type who struct{}
		log, logged := logOf(t, slog.LevelWarn)
		d := deskThat(fails(reset))
		policy := d.policy()
		policy.Logger, policy.Keyed = log, nil
		var later func(context.Context)
		policy.Dedupe.Later = func(_ time.Duration, f func(context.Context)) { later = f }
		look := resilience.Settlement{Wait: time.Second}
		policy.Dedupe.Settle = func(ctx context.Context, _ idempotency.Record) resilience.Settlement {
			require.Equal(t, "c-7", resilience.CallID(ctx))
			require.NoError(t, ctx.Err())
			return look
		}
		var told []string
		policy.Dedupe.Settled = func(ctx context.Context, record idempotency.Record, outcome idempotency.Outcome) {
			require.Equal(t, "priya", ctx.Value(who{}), "what the call's context carried")
			told = append(told, resilience.CallID(ctx)+" "+record.Key+" "+outcome.String())
		}
		reply := guard(t, sends(d.handle), policy)
		call, cancel := context.WithCancel(context.WithValue(t.Context(), who{}, "priya"))
		reply(resilience.WithCallID(call, "c-7"), withMessage("Any update?"))
		cancel()

		require.NotNil(t, later)
		require.Empty(t, told)
		work, stop := context.WithCancel(context.Background())
		defer stop()
		look = resilience.Settlement{Outcome: idempotency.NotDone}
		later(work)
		require.Len(t, told, 1)
		require.Regexp(t, `^c-7 \w+ not_done$`, told[0])
		require.Len(t, logged(), 1)
	})
}

func TestCallIDs(t *testing.T) {
	name, other := resilience.CallIDs(), resilience.CallIDs()
	first := name()
	require.Regexp(t, `^[a-z2-7]{6}-1$`, first)
	require.Equal(t, strings.TrimSuffix(first, "1")+"2", name())
	require.NotEqual(t, first, other(), "another process")
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() { name() }), 1.0)
	require.Empty(t, resilience.CallID(t.Context()))
}
