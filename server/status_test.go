package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/server"
	"github.com/kitebase/kitebase-mcp/server/resilience"
)

var update = flag.Bool("update", false, "rewrite golden files")

const (
	readTicket = `{"ticket_id":"KITE-142"}`
	askHelp    = `{"query":"locked out"}`
)

// nextMinute waits until the clock stands at a full minute, so that random waits do not show in whole seconds.
func nextMinute() { time.Sleep(time.Until(time.Now().Truncate(time.Minute).Add(time.Minute))) }

// TestStatus reads the status after a run in which everything happened that it tells. The golden file also is the answer to
// the question what it looks like; rewrite it with -update.
func TestStatus(t *testing.T) {
	const file, token, message = "testdata/status.txtar", "canary-token", "canary-message"
	synctest.Test(t, func(t *testing.T) {
		w := watch(t, server.Config{Token: token, HideOpenTools: true})
		w.shakeHands()
		reply := func(ticket, text, meta string) answer {
			return w.call("reply_to_customer", `{"ticket_id":"`+ticket+`","message":"`+text+`"}`, meta)
		}
		w.call("search_help", askHelp, "{}")
		w.call("get_ticket", readTicket, "{}")
		w.fails(1, "get_ticket", `{"ticket_id":"KITE-999999"}`)
		faulty(t, w.Fake, "reply_to_customer=lose:1")
		require.False(t, reply("KITE-142", message, `{"claudecode/toolUseId":"a"}`).IsError, "our retry finds it sent")
		require.Equal(t, "host", reply("KITE-142", message, `{"claudecode/toolUseId":"a"}`).Meta.RepeatedBy)
		require.Equal(t, "model", reply("KITE-142", message, `{"claudecode/toolUseId":"b"}`).Meta.RepeatedBy)
		require.Equal(t, "model", reply("KITE-142", message, `{"claudecode/toolUseId":"c"}`).Meta.RepeatedBy)
		nextMinute()
		faulty(t, w.Fake, "reply_to_customer=hang")
		faulty(t, w.Fake, "get_ticket=drop")
		require.Equal(t, "unknown", reply("KITE-142", "other "+message, "{}").Meta.Error.Outcome)
		w.fails(5, "get_ticket", readTicket)
		nextMinute()
		faulty(t, w.Fake, "search_help=drop")
		for range 6 {
			require.False(t, w.call("search_help", askHelp, "{}").IsError, "a copy")
		}
		w.fails(1, "search_help", `{"query":"zzzz"}`)

		object, text := w.status()
		require.NotContains(t, object+text, "canary")
		require.NotContains(t, object+text, "kitebase.test")
		var indented bytes.Buffer
		require.NoError(t, json.Indent(&indented, []byte(object), "", "  "))
		got := &txtar.Archive{
			Comment: []byte("What kitebase://status says after the run of TestStatus.\n\n"),
			Files:   []txtar.File{{Name: "application/json", Data: append(indented.Bytes(), '\n')}, {Name: "text/plain", Data: []byte(text)}},
		}
		if *update {
			require.NoError(t, os.WriteFile(file, txtar.Format(got), 0o644))
		}
		want, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, string(want), string(txtar.Format(got)))
	})
}

func TestStatusForgetsWhatIsOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watch(t, server.Config{Tools: []string{"get_ticket"}})
		w.shakeHands()
		calls := func() (n int) {
			object, _ := w.status()
			var now struct{ Tools []struct{ Calls int } }
			require.NoError(t, json.Unmarshal([]byte(object), &now))
			require.Len(t, now.Tools, 1, "only what is offered")
			return now.Tools[0].Calls
		}
		require.Zero(t, calls())
		w.call("get_ticket", readTicket, "{}")
		time.Sleep(4 * time.Minute)
		w.call("get_ticket", readTicket, "{}")
		require.Equal(t, 2, calls())
		time.Sleep(time.Minute)
		require.Equal(t, 1, calls(), "the first one is five minutes old")
		time.Sleep(4 * time.Minute)
		require.Zero(t, calls())
		time.Sleep(11 * time.Minute)
		w.call("get_ticket", readTicket, "{}")
		require.Equal(t, 1, calls(), "the steps are used again")
	})
}

// A look at the status once opened a ledger that nothing had needed, and hung where that could not be opened.
func TestStatusOpensNoLedger(t *testing.T) {
	unknowns := func(w *watcher) string {
		object, _ := w.status()
		var now struct {
			OpenUnknowns json.RawMessage `json:"open_unknowns"`
		}
		require.NoError(t, json.Unmarshal([]byte(object), &now))
		return string(now.OpenUnknowns)
	}
	synctest.Test(t, func(t *testing.T) {
		opened := 0
		store := &idempotency.Standby{Open: func(context.Context) (idempotency.Store, error) {
			opened++
			return new(idempotency.Memory), nil
		}}
		w := watch(t, server.Config{Store: store, NoDedupe: true})
		w.shakeHands()
		require.Equal(t, "null", unknowns(w))
		time.Sleep(time.Minute)
		require.Equal(t, "null", unknowns(w))
		require.Zero(t, opened)
		w.call("assign_ticket", `{"ticket_id":"KITE-142","assignee":"priya"}`, "{}")
		require.Equal(t, "0", unknowns(w))
		faulty(t, w.Fake, "assign_ticket=lose")
		w.fails(1, "assign_ticket", `{"ticket_id":"KITE-142","assignee":"tom"}`)
		require.Equal(t, "1", unknowns(w))
		require.Equal(t, 1, opened)
	})
}

func TestObserverOfTheCallerIsToldToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := make(chan resilience.Observation, 1)
		w := watch(t, server.Config{Guard: resilience.Policy{
			Observe: func(_ context.Context, o resilience.Observation) { seen <- o },
		}})
		w.shakeHands()
		w.call("get_ticket", readTicket, "{}")
		require.Equal(t, "get_ticket", (<-seen).Tool)
		_, text := w.status()
		require.Contains(t, text, "get_ticket: let through since 2000-01-01 00:00:00 UTC. Calls 1, attempts 1, success rate 100%.\n")
	})
}
