package tracing_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server/tracing"
)

func TestAsked(t *testing.T) {
	const all, traces = "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	const url = "http://canary.example:4318"
	type env map[string]string
	for name, c := range map[string]struct {
		env     env
		on      bool
		warning string
	}{
		"nothing":                   {env{}, false, ""},
		"an endpoint":               {env{all: url}, true, ""},
		"one for traces":            {env{traces: url + "/v1/traces"}, true, ""},
		"that one counts":           {env{all: "canary", traces: url}, true, ""},
		"the default endpoint":      {env{"OTEL_TRACES_EXPORTER": "otlp"}, true, ""},
		"white space":               {env{all: " " + url + " ", "OTEL_SDK_DISABLED": " "}, true, ""},
		"disabled":                  {env{all: url, "OTEL_SDK_DISABLED": "true"}, false, ""},
		"not disabled":              {env{all: url, "OTEL_SDK_DISABLED": "1"}, true, ""},
		"no exporter":               {env{all: url, "OTEL_TRACES_EXPORTER": "none"}, false, ""},
		"another exporter":          {env{all: url, "OTEL_TRACES_EXPORTER": "zipkin"}, false, "traces are off: OTEL_TRACES_EXPORTER takes otlp or none"},
		"the right protocol":        {env{all: url, "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"}, true, ""},
		"another protocol":          {env{all: url, "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, false, "traces are off: OTEL_EXPORTER_OTLP_PROTOCOL asks"},
		"another one for traces":    {env{all: url, "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/json"}, false, "traces are off: OTEL_EXPORTER_OTLP_TRACES_PROTOCOL asks"},
		"the protocol for traces":   {env{all: url, "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/protobuf"}, true, ""},
		"another, but nothing asks": {env{"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, false, ""},
		"no scheme":                 {env{all: "canary:4318"}, false, "traces are off: " + all + " takes a URL"},
		"no URL":                    {env{traces: "http://canary example"}, false, "traces are off: " + traces + " takes a URL"},
		"no host":                   {env{all: "http:///canary"}, false, "traces are off: " + all + " takes a URL"},
		"a password":                {env{all: "https://canary:canary@canary.example"}, true, "the user, password and query in " + all},
		"a key":                     {env{all: url + "?key=canary"}, true, "the user, password and query in " + all},
	} {
		t.Run(name, func(t *testing.T) {
			on, warning := tracing.Asked(func(name string) string { return c.env[name] })
			require.Equal(t, c.on, on)
			require.NotContains(t, warning, "canary")
			if c.warning == "" {
				require.Empty(t, warning)
			}
			require.Contains(t, warning, c.warning, "%v", slices.Sorted(maps.Keys(c.env)))
		})
	}
}
