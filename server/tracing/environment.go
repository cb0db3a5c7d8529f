package tracing

import (
	"cmp"
	"net/url"
	"strings"
)

// The variables that are looked at here; the SDK reads more, such as OTEL_EXPORTER_OTLP_HEADERS and OTEL_TRACES_SAMPLER. For
// these a value for traces alone wins over the one for all signals.
const (
	sdkDisabled = "OTEL_SDK_DISABLED"
	exporters   = "OTEL_TRACES_EXPORTER"
	endpoint    = "OTEL_EXPORTER_OTLP_ENDPOINT"
	endpointOf  = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	protocol    = "OTEL_EXPORTER_OTLP_PROTOCOL"
	protocolOf  = "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"
)

// asked says whether the environment asks for traces that can be made, and what there is to say about it. No value is
// repeated: addresses of collectors hold keys.
func asked(getenv func(string) string) (on bool, warning string) {
	get := func(name string) string { return strings.TrimSpace(getenv(name)) }
	first := func(names ...string) (name, value string) {
		for _, name = range names {
			if value = get(name); value != "" {
				break
			}
		}
		return name, value
	}
	wanted := get(exporters)
	where, address := first(endpointOf, endpoint)
	how, spoken := first(protocolOf, protocol)
	switch {
	case strings.EqualFold(get(sdkDisabled), "true"), wanted == "none", cmp.Or(wanted, address) == "":
		return false, ""
	case wanted != "" && wanted != "otlp":
		return false, "traces are off: " + exporters + " takes otlp or none here"
	case spoken != "" && spoken != "http/protobuf":
		return false, "traces are off: " + how + " asks for a protocol that this server does not speak. Set " + protocolOf +
			"=http/protobuf, and " + endpointOf + " to the address of the collector for HTTP, often http://127.0.0.1:4318/v1/traces"
	case address == "":
		return true, ""
	}
	collector, err := url.Parse(address)
	if err != nil || collector.Host == "" || collector.Scheme != "http" && collector.Scheme != "https" {
		return false, "traces are off: " + where + " takes a URL such as http://127.0.0.1:4318"
	}
	if collector.User != nil || collector.RawQuery != "" {
		return true, "the user, password and query in " + where + " are not sent to the collector; give what it wants to see in OTEL_EXPORTER_OTLP_HEADERS"
	}
	return true, ""
}
