package main_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/fakeapi"
	"github.com/kitebase/kitebase-mcp/server/tracing/tracetest"
)

// The trace of a host, and a span in it.
const (
	hostTrace = "4bf92f3577b34da6a3ce929d0e0e4736"
	hostSpan  = "00f067aa0ba902b7"
	hostNames = "00-" + hostTrace + "-" + hostSpan + "-01"
	otherSpan = "00-aaf92f3577b34da6a3ce929d0e0e47aa-bbf067aa0ba902bb-01"
)

// tracedTo starts a server whose traces go to the collector, soon after each call. Its environment has canaries.
func tracedTo(collector *tracetest.Collector, args ...string) start {
	return start{args: args, env: []string{
		"OTEL_EXPORTER_OTLP_ENDPOINT=" + strings.Replace(collector.URL, "://", "://canary:canary@", 1) + "?key=canary",
		"OTEL_EXPORTER_OTLP_HEADERS=x-key=canary", "OTEL_BSP_SCHEDULE_DELAY=20",
		"OTEL_RESOURCE_ATTRIBUTES=deployment.environment.name=test",
	}}
}

// callIn sends a call that names the trace it belongs to.
func callIn(c *child, traceparent, tool, arguments string) result {
	return c.await(c.request("tools/call", fmt.Sprintf(
		`{"name":%q,"arguments":%s,"_meta":{"traceparent":%q,"tracestate":"host=1"}}`, tool, arguments, traceparent))).result(c.t)
}

func attributes(pairs ...string) map[string]string {
	all := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		all[pairs[i]] = pairs[i+1]
	}
	return all
}

// TestTraceOfARetry: one span for the call, in the trace of the host, one for each attempt, and Kitebase is told which of
// them its request belongs to.
func TestTraceOfARetry(t *testing.T) {
	t.Parallel()
	collector, kitebase := tracetest.Start(t), startUpstream(t, fakeapi.Config{})
	kitebase.fault(t, "get_ticket=status=503:1")
	server := tracedTo(collector, "--url", kitebase.url, "--ledger=memory").serve(t)
	require.Equal(t, 2, callIn(server, hostNames, "get_ticket", ticket142).attempts(t))

	call := collector.Await("tools/call get_ticket", 1)[0]
	attempts := collector.Await("kitebase get_ticket", 2)
	require.Equal(t, []string{"SERVER", hostTrace, hostSpan, ""}, []string{call.Kind, call.Trace, call.Parent, call.Failed})
	id := call.Attributes["kitebase.call_id"]
	require.NotEmpty(t, id)
	require.Equal(t, attributes("mcp.method.name", "tools/call", "gen_ai.operation.name", "execute_tool", "gen_ai.tool.name", "get_ticket",
		"kitebase.call_id", id, "kitebase.outcome", "done", "kitebase.attempts", "2", "kitebase.replayed", "false"), call.Attributes)
	require.Equal(t, "kitebase-mcp", call.Resource["service.name"])
	require.Equal(t, "test", call.Resource["deployment.environment.name"])

	for i, attempt := range attempts {
		require.Equal(t, []string{"CLIENT", hostTrace, call.ID}, []string{attempt.Kind, attempt.Trace, attempt.Parent})
		require.Equal(t, "00-"+hostTrace+"-"+attempt.ID+"-01", kitebase.Requests()[i].Traceparent)
	}
	require.Equal(t, "unavailable", attempts[0].Failed)
	require.Equal(t, attributes("kitebase.attempt", "1", "error.type", "unavailable", "http.response.status_code", "503"), attempts[0].Attributes)
	require.Equal(t, attributes("kitebase.attempt", "2", "http.request.resend_count", "1", "kitebase.retried_after", "unavailable"), attempts[1].Attributes)

	server.end()
	log := server.stderr.String()
	require.Equal(t, 2, strings.Count(log, `"call":"`+id+`"`), "the wait and the end have the call's id: %s", log)
	require.Contains(t, log, "are not sent to the collector")
	require.NotContains(t, log, "canary")
}

// TestTraceOfFailures: the span of a failed call says so; nothing of what was asked or said is in any of them.
func TestTraceOfFailures(t *testing.T) {
	t.Parallel()
	collector, kitebase := tracetest.Start(t), startUpstream(t, fakeapi.Config{Token: "canary"})
	server := tracedTo(collector, "--url", kitebase.url, "--ledger=memory", "--token=canary").serve(t)
	const secret = "Xylophone-7731"
	callIn(server, "00-zzz", "reply_to_customer", replyTo("KITE-999999", secret))
	callIn(server, hostNames, "reply_to_customer", `{"ticket_id":"`+secret+`","message":"`+secret+`"}`)
	server.call("reply_to_customer", replyTo("KITE-142", secret))
	server.call("reply_to_customer", replyTo("KITE-142", secret))
	server.end()

	calls := collector.Await("tools/call reply_to_customer", 4)
	require.Empty(t, calls[0].Parent, "what is no traceparent counts as none")
	require.Equal(t, "not_found", calls[0].Failed)
	require.Equal(t, "tool_error", calls[0].Attributes["error.type"])
	require.Equal(t, []string{"invalid", "0"}, []string{calls[1].Failed, calls[1].Attributes["kitebase.attempts"]})
	require.Equal(t, []string{"", "true"}, []string{calls[3].Failed, calls[3].Attributes["kitebase.replayed"]})
	require.Len(t, collector.Await("kitebase reply_to_customer", 2), 2, "what was refused here was no attempt, and a replay has none")
	bodies, headers := collector.Raw()
	for i, body := range bodies {
		for _, planted := range []string{secret, "canary", kitebase.url, "127.0.0.1"} {
			require.NotContains(t, string(body), planted)
		}
		require.Equal(t, "canary", headers[i].Get("X-Key"), "that is where it belongs")
	}
}

// TestTraceOverHTTP: _meta wins over the header, which is linked; alone the header is the parent.
func TestTraceOverHTTP(t *testing.T) {
	t.Parallel()
	collector, kitebase := tracetest.Start(t), startUpstream(t, fakeapi.Config{})
	site := tracedTo(collector, patient(kitebase.url)...).site(t)
	request := site.call(handshakeRevision, "get_ticket", ticket142)
	request.Header.Set("Traceparent", hostNames)
	require.False(t, site.send(t, request).result(t).IsError)
	alone := collector.Await("tools/call get_ticket", 1)[0]
	require.Equal(t, []string{hostTrace, hostSpan}, []string{alone.Trace, alone.Parent})
	require.Empty(t, alone.Links)

	body := strings.Replace(stateless(toolCall("get_ticket", ticket142)), `"_meta":{`, `"_meta":{"traceparent":"`+hostNames+`",`, 1)
	request = site.request(http.MethodPost, "/mcp", body)
	request.Header.Set("Mcp-Protocol-Version", statelessRevision)
	request.Header.Set("Mcp-Method", "tools/call")
	request.Header.Set("Mcp-Name", "get_ticket")
	request.Header.Set("Traceparent", otherSpan)
	require.False(t, site.send(t, request).result(t).IsError)
	both := collector.Await("tools/call get_ticket", 2)[1]
	require.Equal(t, []string{hostTrace, hostSpan}, []string{both.Trace, both.Parent})
	require.Equal(t, []string{otherSpan[3:52]}, both.Links)
}

// TestTraceOfALateSettlement: the look in the background is a trace of its own that names the call.
func TestTraceOfALateSettlement(t *testing.T) {
	t.Parallel()
	collector, kitebase := tracetest.Start(t), startUpstream(t, fakeapi.Config{})
	kitebase.fault(t, "reply_to_customer=drop")
	server := tracedTo(collector, "--url", kitebase.url, "--ledger=memory", "--settle-after=300ms", "--attempts=1").serve(t)
	require.Equal(t, "unknown", callIn(server, hostNames, "reply_to_customer", updateReply).Meta.Error.Outcome)
	looks := collector.Await("settle reply_to_customer", 2)
	call := collector.Await("tools/call reply_to_customer", 1)[0]
	require.Equal(t, []string{hostTrace, call.ID}, []string{looks[0].Trace, looks[0].Parent}, "within the call")
	require.Equal(t, "unknown", looks[0].Attributes["kitebase.outcome"])
	require.NotEqual(t, hostTrace, looks[1].Trace)
	require.Empty(t, looks[1].Parent)
	require.Equal(t, []string{hostTrace + "-" + call.ID}, looks[1].Links)
	require.Equal(t, "not_done", looks[1].Attributes["kitebase.outcome"])
	require.Equal(t, call.Attributes["kitebase.call_id"], looks[1].Attributes["kitebase.call_id"])
}
