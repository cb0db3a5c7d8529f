package server_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/fakeapi"
	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/server"
	"github.com/kitebase/kitebase-mcp/server/audit"
)

// auditTrail is a trail on a handler that lets nothing through by its level, and what was written to it, with the random part
// of call ids made the same.
func auditTrail() (*audit.Log, func() string) {
	var lines bytes.Buffer
	handler := slog.NewTextHandler(&lines, &slog.HandlerOptions{Level: slog.LevelError, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})
	id := regexp.MustCompile(`call=[a-z2-7]{6}-`)
	return audit.New(handler, nil), func() string {
		synctest.Wait() // for whoever writes
		return id.ReplaceAllString(lines.String(), "call=ID-")
	}
}

// TestAudit: every ending of a write has its line, and none holds what was written to the customer.
func TestAudit(t *testing.T) {
	const message = "Sorry that you are locked out."
	reply := map[string]any{"ticket_id": "KITE-142", "message": message}
	for name, c := range map[string]struct {
		config server.Config
		fake   fakeapi.Config
		does   func(*testing.T, *desk)
	}{
		"sent": {does: func(_ *testing.T, d *desk) { d.call("reply_to_customer", reply) }},
		"assigned": {does: func(_ *testing.T, d *desk) {
			d.call("assign_ticket", map[string]any{"ticket_id": " kite-142 ", "assignee": "priya"})
		}},
		"replayed": {does: func(_ *testing.T, d *desk) {
			d.call("reply_to_customer", reply)
			d.call("reply_to_customer", reply)
		}},
		"sent after a retry": {does: func(t *testing.T, d *desk) {
			faulty(t, d.Fake, "reply_to_customer=lose:1")
			d.call("reply_to_customer", reply)
		}},
		"not done": {does: func(t *testing.T, d *desk) {
			d.call("reply_to_customer", map[string]any{"ticket_id": "KITE-999999", "message": message})
			d.call("assign_ticket", map[string]any{"ticket_id": "KITE-142", "assignee": "whoever sent\x1b[31m the bill"})
		}},
		"never run": {does: func(_ *testing.T, d *desk) {
			d.call("reply_to_customer", map[string]any{"ticket_id": "what the customer said", "message": message})
			d.call("reply_to_customer", map[string]any{})
		}},
		"unknown, and settled as sent": {does: func(t *testing.T, d *desk) {
			faulty(t, d.Fake, "reply_to_customer=lose")
			faulty(t, d.Fake, "get_ticket=status=503")
			d.call("reply_to_customer", reply)
			d.ClearFaults()
			time.Sleep(time.Minute)
		}},
		"unknown, and settled as not sent": {config: server.Config{IgnoresKeys: true}, does: func(t *testing.T, d *desk) {
			faulty(t, d.Fake, "reply_to_customer=status=500:1")
			d.call("reply_to_customer", reply)
			time.Sleep(time.Minute)
		}},
		"unknown, and settled by the next call": {config: server.Config{SettleAfter: time.Hour}, does: func(t *testing.T, d *desk) {
			faulty(t, d.Fake, "reply_to_customer=lose:2")
			faulty(t, d.Fake, "get_ticket=status=503")
			d.call("reply_to_customer", reply)
			d.ClearFaults()
			d.call("reply_to_customer", reply)
		}},
		"without dedupe": {config: server.Config{NoDedupe: true}, does: func(_ *testing.T, d *desk) { d.call("reply_to_customer", reply) }},
		"a read":         {does: func(_ *testing.T, d *desk) { d.call("get_ticket", map[string]any{"ticket_id": "KITE-142"}) }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				trail, written := auditTrail()
				c.config.Audit = trail
				d := open(t, c.config, c.fake)
				c.does(t, d)
				require.NotContains(t, written(), "locked out")
				require.NotContains(t, written(), "said")
				golden(t, filepath.Join("testdata", "audit", strings.NewReplacer(" ", "_", ",", "").Replace(name)+".txt"), written())
			})
		})
	}
}

// TestAuditOfAnEarlierProcess: what a dead process left open is written down when it is settled, under no call.
func TestAuditOfAnEarlierProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := new(idempotency.Memory)
		fake, listener := kitebase(t, fakeapi.Config{})
		faulty(t, fake, "reply_to_customer=lose")
		faulty(t, fake, "get_ticket=status=503")
		var first session // as good as dead: it looks again in an hour
		first.start(t, server.Config{Store: store, SettleAfter: time.Hour}, listener)
		first.call("reply_to_customer", map[string]any{"ticket_id": "KITE-142", "message": "Any update?"})
		fake.ClearFaults()
		time.Sleep(time.Second)
		trail, written := auditTrail()
		var second session
		second.start(t, server.Config{Store: store, Audit: trail}, listener)
		time.Sleep(time.Minute)
		require.Equal(t, "level=INFO msg=audit event=settled who=server tool=reply_to_customer ticket=KITE-142 outcome=done "+
			"key=9edb4ee9f524df95 reply_id=rpl_001 attempts=2\n", written())
	})
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}
