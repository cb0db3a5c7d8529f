package main_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/fakeapi"
)

// TestStatusSubscription: who watches the status over real pipes is told when a circuit opens, and then reads why.
func TestStatusSubscription(t *testing.T) {
	t.Parallel()
	kitebase := startUpstream(t, fakeapi.Config{})
	kitebase.fault(t, "get_ticket=drop")
	server := start{
		args: []string{"--url", kitebase.url, "--attempts", "1", "--breaker-threshold", "1", "--hide-open-tools"},
		env:  []string{"KITEBASE_TOKEN=canary"},
	}.serve(t)
	server.ask("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"host","version":"1"}}`)
	server.write(`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n")
	require.JSONEq(t, "{}", string(server.ask("resources/subscribe", `{"uri":"kitebase://status"}`)))

	require.True(t, server.call("get_ticket", `{"ticket_id":"KITE-142"}`).IsError)
	first, second := server.awaitN("", 1), server.awaitN("", 2) // notifications have no id
	require.JSONEq(t, `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"kitebase://status"}}`, first.line)
	require.JSONEq(t, `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`, second.line)

	require.NotContains(t, string(server.ask("tools/list", "{}")), `"name":"get_ticket"`)
	var read struct{ Contents []struct{ Text string } }
	require.NoError(t, json.Unmarshal(server.ask("resources/read", `{"uri":"kitebase://status"}`), &read))
	require.Len(t, read.Contents, 2)
	require.Contains(t, read.Contents[0].Text, `{"tool":"get_ticket","circuit":"open",`)
	require.Contains(t, read.Contents[1].Text, "get_ticket: refused since ")
	for _, content := range read.Contents {
		require.NotContains(t, content.Text, "canary")
		require.NotContains(t, content.Text, kitebase.url)
	}
}
