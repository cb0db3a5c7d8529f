package kitebase_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/tools/kitebase"
)

type traceKey struct{}

// What the caller's context carries can go along with each request, beside what the client sends, and no further.
func TestHeaders(t *testing.T) {
	var got []http.Header
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Header.Clone())
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer server.Close()
	client, err := kitebase.New(kitebase.Config{BaseURL: server.URL, Token: "tok-1", Headers: func(ctx context.Context, header http.Header) {
		if name, ok := ctx.Value(traceKey{}).(string); ok {
			header.Set("Traceparent", name)
		}
	}})
	require.NoError(t, err)
	defer client.Close()
	_, err = client.GetTicket(context.WithValue(t.Context(), traceKey{}, "00-4b-00-01"), "KITE-142")
	require.Equal(t, http.StatusServiceUnavailable, asError(t, err).StatusCode())
	_, err = client.GetTicket(t.Context(), "KITE-142")
	require.Error(t, err)
	require.Equal(t, "00-4b-00-01", got[0].Get("Traceparent"))
	require.Equal(t, "Bearer tok-1", got[0].Get("Authorization"))
	require.Empty(t, got[1].Get("Traceparent"), "the headers of one request are its own")
}
