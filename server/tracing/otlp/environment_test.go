package otlp_test

import (
	"context"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"google.golang.org/protobuf/proto"

	"github.com/kitebase/kitebase-mcp/server/tracing/otlp"
)

// sameRequests holds our request to the official one, but for who sends it. What is in the spans has a test of its own; only
// the official body leaves out what is zero.
func sameRequests(t *testing.T, got []received, about string) {
	t.Helper()
	require.Len(t, got, 2, about)
	theirs, ours := got[0], got[1]
	if strings.HasPrefix(theirs.header.Get("User-Agent"), "OTel OTLP Exporter Go/") {
		theirs.header.Del("User-Agent")
		ours.header.Del("User-Agent")
	}
	// One compresses to a stream, the other to a buffer.
	theirs.header.Del("Content-Length")
	ours.header.Del("Content-Length")
	require.True(t, proto.Equal(decode(t, theirs.body), decode(t, ours.body)))
	theirs.body, ours.body = nil, nil
	require.Equal(t, theirs, ours, about)
}

// environ is OTEL_EXPORTER_OTLP_ variables without these letters, in which RECEIVER is the address of the collector.
type environ map[string]string

func (e environ) set(t *testing.T, receiver string) {
	for _, prefix := range []string{"", "TRACES_"} {
		for _, name := range []string{"ENDPOINT", "HEADERS", "TIMEOUT", "COMPRESSION", "CERTIFICATE", "CLIENT_CERTIFICATE", "CLIENT_KEY"} {
			t.Setenv("OTEL_EXPORTER_OTLP_"+prefix+name, "") // that of whoever runs the tests
		}
	}
	for name, value := range e {
		t.Setenv("OTEL_EXPORTER_OTLP_"+name, strings.Replace(value, "RECEIVER", receiver, 1))
	}
}

// Each variable has the effect that it has on the official exporter; what is wrong is told by its name.
func TestVariablesAreThoseOfTheOfficialExporter(t *testing.T) {
	const headers = "takes name=value, separated by commas, with percent-encoded values; what is not of this form is not sent"
	for name, c := range map[string]struct {
		env   environ
		warns []string
	}{
		"a base":                       {environ{"ENDPOINT": "RECEIVER"}, nil},
		"a base with a slash":          {environ{"ENDPOINT": "RECEIVER/"}, nil},
		"a base with a path":           {environ{"ENDPOINT": "RECEIVER/base"}, nil},
		"a base with a folder":         {environ{"ENDPOINT": " RECEIVER//base/./x/../ "}, nil},
		"its own":                      {environ{"TRACES_ENDPOINT": "RECEIVER"}, nil},
		"its own with a slash":         {environ{"TRACES_ENDPOINT": "RECEIVER/"}, nil},
		"its own path as it is":        {environ{"TRACES_ENDPOINT": "RECEIVER//own/./x/../"}, nil},
		"its own wins":                 {environ{"TRACES_ENDPOINT": "RECEIVER/own", "ENDPOINT": "http://127.0.0.1:1/base"}, nil},
		"a space in the path":          {environ{"TRACES_ENDPOINT": "RECEIVER/a%20b"}, nil},
		"query and fragment":           {environ{"TRACES_ENDPOINT": "RECEIVER/own?canary=1#canary"}, nil},
		"a key":                        {environ{"ENDPOINT": "RECEIVER", "HEADERS": "x-key=canary%20key"}, nil},
		"keys of traces replace them":  {environ{"ENDPOINT": "RECEIVER", "HEADERS": "x-key=canary,y=1", "TRACES_HEADERS": "x-key=own"}, nil},
		"the user agent":               {environ{"ENDPOINT": "RECEIVER", "HEADERS": "user-agent=host"}, nil},
		"the content type stays":       {environ{"ENDPOINT": "RECEIVER", "HEADERS": "content-type=text/plain"}, nil},
		"half a list":                  {environ{"ENDPOINT": "RECEIVER", "HEADERS": "canary,x=1,=canary,y=%zz"}, []string{"OTEL_EXPORTER_OTLP_HEADERS " + headers}},
		"no list":                      {environ{"ENDPOINT": "RECEIVER", "HEADERS": "x=1", "TRACES_HEADERS": "canary"}, []string{"OTEL_EXPORTER_OTLP_TRACES_HEADERS " + headers}},
		"compressed":                   {environ{"ENDPOINT": "RECEIVER", "COMPRESSION": "gzip"}, nil},
		"compressed for traces":        {environ{"ENDPOINT": "RECEIVER", "COMPRESSION": "none", "TRACES_COMPRESSION": " gzip"}, nil},
		"not compressed for traces":    {environ{"ENDPOINT": "RECEIVER", "COMPRESSION": "gzip", "TRACES_COMPRESSION": "none"}, nil},
		"compressed in another way":    {environ{"ENDPOINT": "RECEIVER", "COMPRESSION": "canary"}, []string{"OTEL_EXPORTER_OTLP_COMPRESSION is not used: it takes gzip or none"}},
		"a time":                       {environ{"ENDPOINT": "RECEIVER", "TIMEOUT": "20000"}, nil},
		"no time limit":                {environ{"ENDPOINT": "RECEIVER", "TIMEOUT": "0"}, nil},
		"no number":                    {environ{"ENDPOINT": "RECEIVER", "TIMEOUT": "canary"}, []string{"OTEL_EXPORTER_OTLP_TIMEOUT is not used: it takes a number of milliseconds"}},
		"no number for traces":         {environ{"ENDPOINT": "RECEIVER", "TRACES_TIMEOUT": "10s"}, []string{"OTEL_EXPORTER_OTLP_TRACES_TIMEOUT is not used: it takes a number of milliseconds"}},
		"no certificates":              {environ{"ENDPOINT": "RECEIVER", "CERTIFICATE": "canary"}, []string{"OTEL_EXPORTER_OTLP_CERTIFICATE is not used: it takes a file with certificates in PEM form"}},
		"no certificates in the file":  {environ{"ENDPOINT": "RECEIVER", "TRACES_CERTIFICATE": "environment_test.go"}, []string{"OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE is not used: it takes a file with certificates in PEM form"}},
		"a certificate without a key":  {environ{"ENDPOINT": "RECEIVER", "CLIENT_CERTIFICATE": "canary"}, []string{"OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE is not used without OTEL_EXPORTER_OTLP_CLIENT_KEY"}},
		"a key without a certificate":  {environ{"ENDPOINT": "RECEIVER", "TRACES_CLIENT_KEY": "canary"}, []string{"OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY is not used without OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE"}},
		"no certificate and no key":    {environ{"ENDPOINT": "RECEIVER", "CLIENT_CERTIFICATE": "canary", "CLIENT_KEY": "canary"}, []string{"OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE and OTEL_EXPORTER_OTLP_CLIENT_KEY are not used: they take a file with a certificate and one with its key, in PEM form"}},
		"what is overridden is unread": {environ{"ENDPOINT": "RECEIVER", "TIMEOUT": "canary", "TRACES_TIMEOUT": "9000", "HEADERS": "canary", "TRACES_HEADERS": "x=1"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			receiver := startReceiver(t)
			c.env.set(t, receiver.URL)
			require.NoError(t, official(t, t.Context(), oneSpan()))
			warnings, err := ours(t, t.Context(), oneSpan())
			require.NoError(t, err)
			sameRequests(t, receiver.take(), name)
			require.Equal(t, c.warns, warnings)
			require.NotContains(t, strings.Join(warnings, "\n"), "canary")
		})
	}
}

// What is read where the official exporter reads something else, by the specification.
func TestSettings(t *testing.T) {
	for name, c := range map[string]struct {
		env  map[string]string
		want otlp.Settings
	}{
		"nothing": {nil, otlp.Settings{URL: "http://localhost:4318/v1/traces", Timeout: 10 * time.Second}},
		"a wrong value counts as not set": {
			map[string]string{
				"OTEL_EXPORTER_OTLP_TIMEOUT": "5000", "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT": "-1",
				"OTEL_EXPORTER_OTLP_COMPRESSION": "gzip", "OTEL_EXPORTER_OTLP_TRACES_COMPRESSION": "zstd",
			},
			otlp.Settings{URL: "http://localhost:4318/v1/traces", Timeout: 5 * time.Second, Gzip: true},
		},
		"a time that no duration holds": {
			map[string]string{"OTEL_EXPORTER_OTLP_TIMEOUT": "9223372036855"},
			otlp.Settings{URL: "http://localhost:4318/v1/traces", Timeout: 10 * time.Second},
		},
		"insecure is for gRPC": {
			map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "https://collector.example", "OTEL_EXPORTER_OTLP_INSECURE": "true"},
			otlp.Settings{URL: "https://collector.example/v1/traces", Timeout: 10 * time.Second},
		},
	} {
		settings, err := otlp.FromEnvironment(func(name string) string { return c.env[name] }, func(string) {})
		require.NoError(t, err, name)
		c.want.Headers = http.Header{}
		require.Equal(t, c.want, settings, "%s: %v", name, slices.Sorted(maps.Keys(c.env)))
	}
}

// What cannot be delivered to at all is an error that repeats nothing of the value.
func TestWrongEndpoints(t *testing.T) {
	for _, value := range []string{"canary:4318", "http://canary example", "http:///canary", "unix:///canary", "grpc://canary"} {
		for _, variable := range []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"} {
			_, err := otlp.FromEnvironment(func(name string) string { return map[string]string{variable: value}[name] }, nil)
			require.EqualError(t, err, variable+" takes a URL such as http://127.0.0.1:4318")
		}
	}
}

// Both exporters cut off a collector that does not answer in time.
func TestTimeoutIsThatOfTheOfficialExporter(t *testing.T) {
	for _, name := range []string{"TIMEOUT", "TRACES_TIMEOUT"} {
		receiver, cutOff := startReceiver(t), make(chan struct{}, 1)
		receiver.answer = func(_ http.ResponseWriter, request *http.Request) {
			<-request.Context().Done()
			cutOff <- struct{}{}
		}
		environ{"ENDPOINT": "RECEIVER", name: "50"}.set(t, receiver.URL)
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error)
		go func() { failed <- official(t, ctx, oneSpan()) }()
		<-cutOff
		cancel() // it would try again
		require.Error(t, <-failed)

		_, err := ours(t, t.Context(), oneSpan())
		require.ErrorIs(t, err, context.DeadlineExceeded)
		<-cutOff
	}
}

// Certificates for an address without TLS are a mistake that both refuse: the spans were meant to be sent in secret.
func TestCertificatesNeedTLS(t *testing.T) {
	certificate, _ := certificateFiles(t, startTLS(t))
	environ{"ENDPOINT": "http://canary.example", "CERTIFICATE": certificate}.set(t, "")
	_, err := otlptracehttp.New(t.Context())
	require.Error(t, err)
	_, err = otlp.FromEnvironment(os.Getenv, nil)
	require.ErrorContains(t, err, "the address of the collector begins with http:")
	require.NotContains(t, err.Error(), "canary")
}
