package main_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestHealth: what the image's health check says. A server that asks for a token is asked for its health without one.
func TestHealth(t *testing.T) {
	t.Parallel()
	address := func(url string) string { return strings.TrimPrefix(url, "http://") }
	t.Run("alive, though Kitebase is not", func(t *testing.T) {
		t.Parallel()
		web := serveWeb(t, closedPort(t))
		end := start{args: []string{"health", "--addr", address(web)}}.run(t, "")
		require.Equal(t, finished{0, "ok\n", ""}, end)
		_, port, _ := strings.Cut(address(web), ":")
		end = start{args: []string{"health"}, env: []string{"KITEBASE_ADDR=0.0.0.0:" + port, "http_proxy=" + closedPort(t)}}.run(t, "")
		require.Equal(t, finished{0, "ok\n", ""}, end, "the address by the server's own variable, and no proxy")
	})
	t.Run("nothing there", func(t *testing.T) {
		t.Parallel()
		end := start{args: []string{"health", "--addr", address(closedPort(t))}}.run(t, "")
		require.Equal(t, 1, end.code)
		require.Empty(t, end.stdout)
		require.Contains(t, end.stderr, "the server does not answer")
	})
	t.Run("somebody else there", func(t *testing.T) {
		t.Parallel()
		other := httptest.NewServer(http.NotFoundHandler())
		defer other.Close()
		end := start{args: []string{"health", "--addr", address(other.URL)}}.run(t, "")
		require.Equal(t, 1, end.code)
		require.Contains(t, end.stderr, "404")
	})
	t.Run("no address", func(t *testing.T) {
		t.Parallel()
		end := start{args: []string{"health", "--addr", "a b"}}.run(t, "")
		require.Equal(t, 2, end.code)
		require.Contains(t, end.stderr, "--addr (KITEBASE_ADDR) takes host:port")
	})
}
