package server_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server"
	"github.com/kitebase/kitebase-mcp/server/resilience"
)

const (
	modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	updated    = `notifications/resources/updated {"uri":"kitebase://status"}`
)

// tagged is what a stream of 2026-07-28 is told.
func tagged(method, id, more string) string {
	return method + ` {"_meta":{"io.modelcontextprotocol/subscriptionId":` + id + `}` + more + `}`
}

func onStdio(t *testing.T, name string, config server.Config, test func(t *testing.T, w *watcher)) {
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { test(t, watch(t, config)) })
	})
}

func TestStatusUpdates(t *testing.T) {
	subscribe, uri := "resources/subscribe", `{"uri":"kitebase://status"}`
	onStdio(t, "each change of a circuit is told, also one that no call makes", server.Config{}, func(t *testing.T, w *watcher) {
		require.Contains(t, w.shakeHands(), `"resources":{"subscribe":true}`)
		require.JSONEq(t, "{}", string(w.ask(subscribe, uri).Result))
		faulty(t, w.Fake, "get_ticket=drop")
		w.fails(4, "get_ticket", readTicket)
		require.Empty(t, w.told())
		w.fails(1, "get_ticket", readTicket)
		synctest.Wait()
		require.Equal(t, []string{updated}, w.told(), "open")
		time.Sleep(31 * time.Second)
		synctest.Wait()
		require.Equal(t, []string{updated}, w.told(), "half-open")
		w.ClearFaults()
		w.call("get_ticket", readTicket, "{}")
		synctest.Wait()
		require.Equal(t, []string{updated}, w.told(), "closed")
	})
	onStdio(t, "a probe that fails is told as well", server.Config{}, func(t *testing.T, w *watcher) {
		w.shakeHands()
		w.ask(subscribe, uri)
		faulty(t, w.Fake, "get_ticket=drop")
		w.fails(5, "get_ticket", readTicket)
		time.Sleep(31 * time.Second)
		w.fails(1, "get_ticket", readTicket)
		time.Sleep(31 * time.Second)
		synctest.Wait()
		require.Equal(t, []string{updated, updated, updated, updated}, w.told(), "open, half-open, open, half-open")
	})
	onStdio(t, "who did not subscribe, or no longer does, is told nothing", server.Config{}, func(t *testing.T, w *watcher) {
		w.shakeHands()
		w.ask(subscribe, `{"uri":"kitebase://other"}`)
		faulty(t, w.Fake, "get_ticket=drop")
		w.fails(5, "get_ticket", readTicket)
		w.ask(subscribe, uri)
		w.ask("resources/unsubscribe", uri)
		time.Sleep(31 * time.Second)
		synctest.Wait()
		require.Empty(t, w.told())
	})
	onStdio(t, "a stream of 2026-07-28 is told until it ends, and nobody else of that revision", server.Config{HideOpenTools: true},
		func(t *testing.T, w *watcher) {
			faulty(t, w.Fake, "get_ticket=drop")
			id := w.begin("subscriptions/listen", `{"notifications":{"resourceSubscriptions":["kitebase://status"]},`+modernMeta+`}`)
			synctest.Wait()
			require.Equal(t, []string{tagged("notifications/subscriptions/acknowledged", id,
				`,"notifications":{"resourceSubscriptions":["kitebase://status"]}`)}, w.told())
			for range 5 {
				w.ask("tools/call", `{"name":"get_ticket","arguments":`+readTicket+`,`+modernMeta+`}`)
			}
			synctest.Wait()
			require.Equal(t, 1, w.server.Streams())
			require.Equal(t, []string{tagged("notifications/resources/updated", id, `,"uri":"kitebase://status"`)}, w.told())
			w.write(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`)
			time.Sleep(31 * time.Second)
			synctest.Wait()
			require.Empty(t, w.told())
			require.Zero(t, w.server.Streams())
		})
}

func TestHideOpenTools(t *testing.T) {
	all := []string{"assign_ticket", "get_ticket", "reply_to_customer", "search_help", "search_tickets"}
	rest := []string{"assign_ticket", "reply_to_customer", "search_help", "search_tickets"}
	const changed = "notifications/tools/list_changed "
	onStdio(t, "by default a refused tool stays in the list", server.Config{}, func(t *testing.T, w *watcher) {
		require.Contains(t, w.shakeHands(), `"tools":{}`)
		faulty(t, w.Fake, "get_ticket=drop")
		w.fails(5, "get_ticket", readTicket)
		require.Equal(t, all, w.tools("{}"))
		time.Sleep(time.Minute)
		require.Empty(t, w.told())
	})
	onStdio(t, "a refused tool leaves the list and comes back by itself", server.Config{HideOpenTools: true}, func(t *testing.T, w *watcher) {
		require.Contains(t, w.shakeHands(), `"tools":{"listChanged":true}`)
		require.Equal(t, all, w.tools("{}"))
		faulty(t, w.Fake, "get_ticket=drop")
		w.fails(5, "get_ticket", readTicket)
		synctest.Wait()
		require.Equal(t, []string{changed}, w.told())
		require.Equal(t, rest, w.tools("{}"))
		time.Sleep(30*time.Second + time.Second)
		synctest.Wait()
		require.Equal(t, []string{changed}, w.told())
		require.Equal(t, all, w.tools("{}"), "nobody had to call it")
		w.ClearFaults()
		require.False(t, w.call("get_ticket", readTicket, "{}").IsError)
		synctest.Wait()
		require.Empty(t, w.told(), "it is in the list already")
	})
	// A filter of mcp-go's also works on calls: the model would read -32602 and Go's words.
	onStdio(t, "a call of a hidden tool is refused in words", server.Config{HideOpenTools: true}, func(t *testing.T, w *watcher) {
		w.shakeHands()
		faulty(t, w.Fake, "get_ticket=drop")
		w.fails(5, "get_ticket", readTicket)
		got := w.call("get_ticket", readTicket, "{}")
		require.Equal(t, resilience.CircuitOpen, got.Meta.Error.Kind)
		require.Contains(t, got.text(), "Error: get_ticket was not run")
	})
	onStdio(t, "a stream of 2026-07-28 is told if it asked", server.Config{HideOpenTools: true}, func(t *testing.T, w *watcher) {
		faulty(t, w.Fake, "get_ticket=drop")
		id := w.begin("subscriptions/listen", `{"notifications":{"toolsListChanged":true},`+modernMeta+`}`)
		for range 5 {
			w.ask("tools/call", `{"name":"get_ticket","arguments":`+readTicket+`,`+modernMeta+`}`)
		}
		synctest.Wait()
		require.Equal(t, tagged("notifications/tools/list_changed", id, ""), w.told()[1])
		require.Equal(t, rest, w.tools("{"+modernMeta+"}"))
	})
}
