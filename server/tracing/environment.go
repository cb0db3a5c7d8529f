package tracing

import (
	"cmp"
	"strings"

	"github.com/kitebase/kitebase-mcp/server/tracing/otlp"
)

// The variables that are looked at here; package otlp reads more, such as OTEL_EXPORTER_OTLP_HEADERS, and so does the SDK, such
// as OTEL_TRACES_SAMPLER. Of the protocols the one for traces alone wins over the one for all signals.
const (
	sdkDisabled = "OTEL_SDK_DISABLED"
	exporters   = "OTEL_TRACES_EXPORTER"
	endpointOf  = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	protocol    = "OTEL_EXPORTER_OTLP_PROTOCOL"
	protocolOf  = "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"
)

// asked says whether the environment asks for traces that can be made, and what there is to say about it. No value is
// repeated: addresses of collectors hold keys.
func asked(getenv func(string) string) (on bool, warning string) {
	get := func(name string) string { return strings.TrimSpace(getenv(name)) }
	wanted := get(exporters)
	where, collector, err := otlp.Endpoint(getenv)
	how, spoken := protocolOf, get(protocolOf)
	if spoken == "" {
		how, spoken = protocol, get(protocol)
	}
	switch {
	case strings.EqualFold(get(sdkDisabled), "true"), wanted == "none", cmp.Or(wanted, where) == "":
		return false, ""
	case wanted != "" && wanted != "otlp":
		return false, "traces are off: " + exporters + " takes otlp or none here"
	case spoken != "" && spoken != "http/protobuf":
		return false, "traces are off: " + how + " asks for a protocol that this server does not speak. Set " + protocolOf +
			"=http/protobuf, and " + endpointOf + " to the address of the collector for HTTP, often http://127.0.0.1:4318/v1/traces"
	case err != nil:
		return false, "traces are off: " + err.Error()
	case collector.User != nil || collector.RawQuery != "":
		return true, "the user, password and query in " + where + " are not sent to the collector; give what it wants to see in OTEL_EXPORTER_OTLP_HEADERS"
	}
	return true, ""
}
