package kitebase_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/tools/kitebase"
)

// net/http re-sends a request by itself when the kept connection that it was written to dies: every GET, and whatever
// carries an Idempotency-Key. The customer's reply went out twice and the counters of the caller saw one.
func TestADeadConnectionIsNotRetried(t *testing.T) {
	ends := map[string]func(net.Conn) bool{
		"close": func(conn net.Conn) bool { return true },
		"reset": reset,
	}
	for _, op := range operations() {
		for name, end := range ends {
			t.Run(op.name+"/"+name, func(t *testing.T) {
				server := serveRaw(t, func(conn net.Conn, n int) bool {
					if n > 1 {
						return end(conn)
					}
					_, _ = fmt.Fprintf(conn, "HTTP/1.1 %d OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
						op.status, len(op.answer), op.answer)
					return false
				})
				client := newClient(t, server.url)
				_, err := op.call(t.Context(), client)
				require.NoError(t, err)

				_, err = op.call(t.Context(), client)
				failure := asError(t, err)
				require.Equal(t, 2, server.count(), "one call, one request")
				require.Equal(t, kitebase.KindUnavailable, failure.Kind())
				require.Equal(t, "connection reset by Kitebase", failure.Reason())
				require.Equal(t, "unknown", failure.Outcome().String())
			})
		}
	}
}

// A followed 302 turns the POST into a GET that ends in 200: "success", and nothing was sent. A followed 307 hands message,
// key and token to whatever it names.
func TestRedirectsAreNotFollowed(t *testing.T) {
	for _, status := range []int{301, 302, 303, 304, 307, 308} {
		t.Run(strconv.Itoa(status), func(t *testing.T) {
			requests := 0
			client := serve(t, func(w http.ResponseWriter, r *http.Request) {
				requests++
				if r.URL.Path == "/elsewhere" {
					_, _ = io.WriteString(w, receiptJSON)
					return
				}
				http.Redirect(w, r, "/elsewhere", status)
			})
			_, err := reply(t.Context(), client)
			failure := asError(t, err)
			require.Equal(t, 1, requests)
			require.Equal(t, kitebase.KindMisconfigured, failure.Kind())
			require.Equal(t, "Kitebase redirected the request", failure.Reason())
			require.Equal(t, "unknown", failure.Outcome().String())
		})
	}
}

// An empty body that is there only to stop the re-sending must not be seen on the wire: some servers refuse a GET with one.
func TestAReadAnnouncesNoBody(t *testing.T) {
	var header http.Header
	var encoding []string
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		header, encoding = r.Header, r.TransferEncoding
		http.NotFound(w, r)
	})
	_, err := client.GetTicket(context.Background(), "KITE-1")
	require.Error(t, err)
	require.Empty(t, encoding)
	require.NotContains(t, header, "Content-Length")
	require.NotContains(t, header, "Content-Type")
}
