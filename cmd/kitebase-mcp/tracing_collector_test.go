package main_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/fakeapi"
	"github.com/kitebase/kitebase-mcp/server/tracing/tracetest"
)

// TestTracesAreOff: hosts pass on an environment that is meant for themselves.
func TestTracesAreOff(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		env   []string
		warns string
	}{
		"nothing is set":            {nil, ""},
		"none":                      {[]string{"OTEL_EXPORTER_OTLP_ENDPOINT=%s", "OTEL_TRACES_EXPORTER=none"}, ""},
		"disabled":                  {[]string{"OTEL_EXPORTER_OTLP_ENDPOINT=%s", "OTEL_SDK_DISABLED=TRUE"}, ""},
		"grpc, as Claude Code has":  {[]string{"OTEL_EXPORTER_OTLP_ENDPOINT=%s", "OTEL_EXPORTER_OTLP_PROTOCOL=grpc"}, "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/protobuf"},
		"another exporter":          {[]string{"OTEL_TRACES_EXPORTER=console"}, "OTEL_TRACES_EXPORTER takes otlp or none"},
		"an endpoint without http:": {[]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=canary:4318"}, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT takes a URL"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			collector, kitebase := tracetest.Start(t), startUpstream(t, fakeapi.Config{})
			way := start{args: []string{"--url", kitebase.url, "--ledger=memory", "--log-level=warn"}}
			for _, variable := range c.env {
				way.env = append(way.env, strings.Replace(variable, "%s", collector.URL, 1))
			}
			server := way.serve(t)
			require.False(t, callIn(server, hostNames, "get_ticket", ticket142).IsError)
			server.end()
			require.Empty(t, kitebase.Requests()[0].Traceparent)
			bodies, _ := collector.Raw()
			require.Empty(t, bodies)
			log := server.stderr.String()
			require.NotContains(t, log, "canary")
			if c.warns == "" {
				require.Empty(t, log)
				return
			}
			require.Equal(t, 1, strings.Count(log, "\n"), log)
			require.Contains(t, log, c.warns)
		})
	}
}

// TestCollectorFails: what cannot be delivered is lost; that is said once, in words without its address or its answer.
func TestCollectorFails(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fail  func(*tracetest.Collector)
		cause string
	}{
		"refuses": {func(c *tracetest.Collector) { c.Fail(http.StatusUnauthorized) }, "did not take them"},
		"is gone": {func(c *tracetest.Collector) { c.URL = "http://127.0.0.1:1" }, "no connection to the collector"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			collector, kitebase := tracetest.Start(t), startUpstream(t, fakeapi.Config{})
			c.fail(collector)
			server := tracedTo(collector, "--url", kitebase.url, "--ledger=memory", "--log-level=warn").serve(t)
			for i := range 30 {
				require.False(t, callIn(server, hostNames, "get_ticket", ticket142).IsError)
				if name == "refuses" {
					collector.Arrived(i/10 + 1) // several deliveries fail
				}
			}
			server.end()
			var warnings []map[string]any
			for _, record := range recordsOf(t, server.stderr.String()) {
				if record["msg"] == "traces cannot be delivered" {
					warnings = append(warnings, record)
				}
			}
			require.Len(t, warnings, 1, server.stderr.String())
			require.Contains(t, warnings[0]["cause"], c.cause)
			require.NotContains(t, server.stderr.String(), "canary")
			require.NotContains(t, server.stderr.String(), "127.0.0.1")
		})
	}
}

// TestCollectorBehindAProxy: collectors of other companies are often reached by one only.
func TestCollectorBehindAProxy(t *testing.T) {
	t.Parallel()
	proxy, kitebase := tracetest.Start(t), startUpstream(t, fakeapi.Config{})
	way := start{args: []string{"--url", kitebase.url, "--ledger=memory"}, env: []string{
		"OTEL_EXPORTER_OTLP_ENDPOINT=http://collector.example", "HTTP_PROXY=" + proxy.URL,
	}}
	server := way.serve(t)
	require.False(t, callIn(server, hostNames, "get_ticket", ticket142).IsError)
	server.end()
	require.Len(t, proxy.Await("tools/call get_ticket", 1), 1)
}

// TestCollectorHangs: calls are answered while nothing is delivered, and the end does not wait for it. That it ends in time
// is what a host sees that kills after 500 ms; here the watchdog is all that counts time.
func TestCollectorHangs(t *testing.T) {
	t.Parallel()
	collector, kitebase := tracetest.Start(t), startUpstream(t, fakeapi.Config{})
	collector.Hang()
	server := tracedTo(collector, "--url", kitebase.url, "--ledger=memory", "--log-level=warn").serve(t)
	callIn(server, hostNames, "get_ticket", ticket142)
	collector.Arrived(1)
	for range 20 {
		require.False(t, callIn(server, hostNames, "get_ticket", ticket142).IsError)
	}
	server.end() // with code 0, while the collector still holds the first delivery
	require.Contains(t, server.stderr.String(), "not delivered before the end")
	require.Empty(t, collector.Spans())
}
