package otlp_test

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/kitebase/kitebase-mcp/server/tracing/otlp"
)

// answered delivers one span to a collector that answers like this.
func answered(t *testing.T, answer http.HandlerFunc) error {
	t.Helper()
	receiver := startReceiver(t)
	receiver.answer = answer
	exporter := otlp.New(otlp.Settings{URL: receiver.URL})
	defer func() { require.NoError(t, exporter.Shutdown(t.Context())) }()
	return exporter.ExportSpans(t.Context(), oneSpan())
}

func TestAnswers(t *testing.T) {
	partial := func(n int64) string {
		answer, err := proto.Marshal(&collector.ExportTraceServiceResponse{
			PartialSuccess: &collector.ExportTracePartialSuccess{RejectedSpans: n, ErrorMessage: "canary"},
		})
		require.NoError(t, err)
		return string(answer)
	}
	const protobuf, json = "application/x-protobuf", "application/json"
	for name, c := range map[string]struct {
		contentType, body string
		want              string // of the error
	}{
		"nothing":                {protobuf, "", ""},
		"all taken":              {protobuf, partial(0), ""},
		"some rejected":          {protobuf, partial(3), "deliver spans: the collector rejected 3 of the spans"},
		"no protobuf":            {protobuf, "canary", "deliver spans: the answer of the collector is no ExportTraceServiceResponse"},
		"JSON is not read":       {json, `{"partialSuccess":{"rejectedSpans":"3"}}`, ""},
		"text is not read":       {"text/plain", "canary", ""},
		"endless text":           {"text/plain", strings.Repeat("canary", 1<<20), ""},
		"a message without ends": {protobuf, strings.Repeat("\x12\x00", 1<<20) + partial(3), ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := answered(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", c.contentType)
				_, _ = w.Write([]byte(c.body)) // a client that has read enough is no error
			})
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, c.want)
		})
	}
	t.Run("how many were rejected can be read", func(t *testing.T) {
		err := answered(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", protobuf)
			_, _ = w.Write([]byte(partial(7)))
		})
		var rejected otlp.Rejected
		require.ErrorAs(t, err, &rejected)
		require.Equal(t, otlp.Rejected(7), rejected)
	})
}

// The headers hold keys, which are not for whoever a collector points at.
func TestNoRedirectIsFollowed(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		var asked atomic.Int32
		elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
		defer elsewhere.Close()
		err := answered(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, status) })
		require.ErrorContains(t, err, "the collector answered with status 30")
		require.NotContains(t, err.Error(), elsewhere.URL)
		require.Zero(t, asked.Load())
	}
}

// One connection serves all batches, and Shutdown closes it.
func TestConnectionIsKeptAndClosed(t *testing.T) {
	var opened atomic.Int32
	closed := make(chan struct{}, 10)
	receiver := &receiver{}
	receiver.Server = httptest.NewUnstartedServer(receiver)
	receiver.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			opened.Add(1)
		case http.StateClosed:
			closed <- struct{}{}
		}
	}
	receiver.Start()
	defer receiver.Close()
	exporter := otlp.New(otlp.Settings{URL: receiver.URL})
	for range 3 {
		require.NoError(t, exporter.ExportSpans(t.Context(), oneSpan()))
	}
	require.EqualValues(t, 1, opened.Load())
	require.NoError(t, exporter.Shutdown(t.Context()))
	<-closed
}

// A collector that is gone is told apart by what the network said.
func TestNobodyListens(t *testing.T) {
	exporter := otlp.New(otlp.Settings{URL: "http://127.0.0.1:1"})
	exporter.Hurry()
	err := exporter.ExportSpans(t.Context(), oneSpan())
	var connection *net.OpError
	require.True(t, errors.As(err, &connection), "%v", err)
	require.NoError(t, exporter.Shutdown(t.Context()))
}
