package otlp_test

import (
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/http/httpguts"

	"github.com/kitebase/kitebase-mcp/server/tracing/otlp"
)

func TestParseHeaders(t *testing.T) {
	for list, c := range map[string]struct {
		want  http.Header
		right bool
	}{
		"":                                {http.Header{}, true},
		"x-key=canary":                    {http.Header{"X-Key": {"canary"}}, true},
		" x-key = a b , y=2,":             {http.Header{"X-Key": {"a b"}, "Y": {"2"}}, true},
		"authorization=Basic%20YTpi%3D":   {http.Header{"Authorization": {"Basic YTpi="}}, true},
		"authorization=Basic YTpi==":      {http.Header{"Authorization": {"Basic YTpi=="}}, true},
		"a=%2C%3D%E2%9C%93+":              {http.Header{"A": {",=✓+"}}, true},
		"a=1;metadata":                    {http.Header{"A": {"1;metadata"}}, true},
		"a=":                              {http.Header{"A": {""}}, true},
		"a=1,A=2":                         {http.Header{"A": {"2"}}, true},
		"canary,a=1":                      {http.Header{"A": {"1"}}, false},
		"=canary,a=1":                     {http.Header{"A": {"1"}}, false},
		"a b=canary":                      {http.Header{}, false},
		"ä=canary":                        {http.Header{}, false},
		"%61=1":                           {http.Header{"%61": {"1"}}, true},
		"a=canary%":                       {http.Header{}, false},
		"a=1%0D%0Ax-injected: canary,b=2": {http.Header{"B": {"2"}}, false},
		"a=%00":                           {http.Header{}, false},
	} {
		got, right := otlp.ParseHeaders(list)
		require.Equal(t, c.want, got, list)
		require.Equal(t, c.right, right, list)
	}
}

// What is read can be sent, and a list that is written as the specification wants it is read as it was meant.
func FuzzHeaders(f *testing.F) {
	f.Add("x-key=canary,y=2", "name", "value")
	f.Add("a=%2C;b", "a!#", " , =")
	f.Add("=,%,\x7f", "ä", "\r\n")
	f.Fuzz(func(t *testing.T, list, name, value string) {
		headers, _ := otlp.ParseHeaders(list)
		for name, values := range headers {
			require.True(t, httpguts.ValidHeaderFieldName(name), "%q", name)
			require.Len(t, values, 1)
			require.True(t, httpguts.ValidHeaderFieldValue(values[0]), "%q", values[0])
		}
		if !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
			return
		}
		headers, right := otlp.ParseHeaders(name + "=" + url.PathEscape(value))
		require.True(t, right)
		require.Equal(t, strings.TrimSpace(value), headers.Get(name))
	})
}

// Lists at random are the same headers to the official exporter, unless it does not send anything because of them.
func TestHeadersAreThoseOfTheOfficialExporter(t *testing.T) {
	receiver := startReceiver(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.URL)
	random, sent := rand.New(rand.NewPCG(1, 2)), 0
	for range 200 {
		list := make([]byte, random.IntN(16))
		for i := range list {
			list[i] = `ab==,,%2cf; "-`[random.IntN(14)]
		}
		t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", string(list))
		if official(t, t.Context(), oneSpan()) != nil {
			require.Empty(t, receiver.take())
			continue
		}
		_, err := ours(t, t.Context(), oneSpan())
		require.NoError(t, err)
		sameRequests(t, receiver.take(), string(list))
		sent++
	}
	require.Greater(t, sent, 150)
}
