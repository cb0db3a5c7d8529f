package kitebase_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/tools/kitebase"
)

// requireFailure checks what layers ask of a failure without a usable answer.
func requireFailure(t *testing.T, err error, kind, outcome, reason string) *kitebase.Error {
	t.Helper()
	failure := asError(t, err)
	require.Equal(t, kind, failure.Kind())
	require.Equal(t, outcome, failure.Outcome().String())
	require.Equal(t, reason, failure.Reason())
	require.Zero(t, failure.RetryAfter())
	return failure
}

func TestNoConnection(t *testing.T) {
	t.Run("refused", func(t *testing.T) {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		require.NoError(t, listener.Close())
		_, err = reply(t.Context(), newClient(t, "http://"+listener.Addr().String()))
		failure := requireFailure(t, err, "unavailable", "not_done", "no connection to Kitebase")
		require.True(t, failure.Retryable())
		require.ErrorIs(t, err, syscall.ECONNREFUSED)
		require.Equal(t, "reply_to_customer: unavailable: no connection to Kitebase: connection refused (outcome not_done)", err.Error())
	})
	t.Run("no such name", func(t *testing.T) {
		_, err := reply(t.Context(), dialing(t, func(context.Context, string, string) (net.Conn, error) {
			return nil, &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "kitebase.test", IsNotFound: true}}
		}))
		requireFailure(t, err, "unavailable", "not_done", "no connection to Kitebase")
		require.Contains(t, err.Error(), "the name lookup failed: no such host")
		require.NotContains(t, err.Error(), "kitebase.test")
	})
	t.Run("unknown certificate", func(t *testing.T) {
		server := httptest.NewUnstartedServer(http.NotFoundHandler())
		server.Config.ErrorLog = quiet()
		server.StartTLS()
		t.Cleanup(server.Close)
		_, err := reply(t.Context(), newClient(t, server.URL))
		requireFailure(t, err, "unavailable", "not_done", "no secure connection to Kitebase")
		require.Contains(t, err.Error(), "the certificate is signed by an unknown authority")
	})
	t.Run("no TLS on the other side", func(t *testing.T) {
		server := httptest.NewServer(http.NotFoundHandler())
		t.Cleanup(server.Close)
		_, err := reply(t.Context(), newClient(t, strings.Replace(server.URL, "http:", "https:", 1)))
		requireFailure(t, err, "unavailable", "not_done", "no secure connection to Kitebase")
	})
}

// cutConn fails its write number n; earlier ones succeed. With a buffer of 4 KiB in net/http, the first write of a large
// request ends in the middle of its body.
type cutConn struct {
	net.Conn
	failWrite int
	closed    chan struct{}
}

func (c *cutConn) Write(b []byte) (int, error) {
	c.failWrite--
	if c.failWrite == 0 {
		return 0, errors.New("broken in a way of its own")
	}
	return len(b), nil
}

func (c *cutConn) Read([]byte) (int, error) {
	<-c.closed
	return 0, io.EOF
}

func (c *cutConn) Close() error {
	select {
	case <-c.closed:
	default:
		close(c.closed)
	}
	return nil
}

// A write that failed half-way is careful ground: what of it arrived cannot be known.
func TestFailedWrites(t *testing.T) {
	for _, row := range []struct {
		name      string
		failWrite int
		message   string
	}{
		{"at once", 1, "Hello"},
		{"in the body", 2, strings.Repeat("Hello ", 4000)},
	} {
		t.Run(row.name, func(t *testing.T) {
			client := dialing(t, func(context.Context, string, string) (net.Conn, error) {
				return &cutConn{failWrite: row.failWrite, closed: make(chan struct{})}, nil
			})
			_, err := client.Reply(t.Context(), kitebase.Reply{TicketID: "KITE-142", Message: row.message})
			requireFailure(t, err, "unavailable", "unknown", "connection reset by Kitebase")
		})
	}
}

// The header is not out before its last byte is, and no server acts on half of one. A long token makes it outgrow the
// buffer of net/http, so that the first write ends inside.
func TestHalfAHeaderIsNotDone(t *testing.T) {
	client, err := kitebase.New(kitebase.Config{
		BaseURL: "http://kitebase.test",
		Token:   strings.Repeat("t", 20_000),
		DialContext: func(context.Context, string, string) (net.Conn, error) {
			return &cutConn{failWrite: 2, closed: make(chan struct{})}, nil
		},
	})
	require.NoError(t, err)
	_, err = reply(t.Context(), client)
	requireFailure(t, err, "unavailable", "not_done", "connection reset by Kitebase")
}

func TestCuts(t *testing.T) {
	const header = "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\n"
	for _, row := range []struct {
		name, answer, kind, reason string
	}{
		{"before the answer", "", "unavailable", "connection reset by Kitebase"},
		{"in the header", header, "unavailable", "connection reset by Kitebase"},
		{"before the body", header + "Content-Length: 80\r\n\r\n", "bad_answer", "Kitebase's answer was cut off"},
		{"in the body", header + "Content-Length: 80\r\n\r\n" + receiptJSON[:40], "bad_answer", "Kitebase's answer was cut off"},
		{"in a chunk", header + "Transfer-Encoding: chunked\r\n\r\n50\r\n" + receiptJSON[:40], "bad_answer", "Kitebase's answer was cut off"},
		{"before the last chunk", header + "Transfer-Encoding: chunked\r\n\r\n28\r\n" + receiptJSON[:40] + "\r\n", "bad_answer", "Kitebase's answer was cut off"},
		{"with the end of the connection as the end of the body", header + "\r\n" + receiptJSON[:40], "bad_answer", "Kitebase's answer was cut off"},
		{"no HTTP at all", "SSH-2.0-OpenSSH_9.6\r\n\r\n", "bad_answer", "Kitebase's answer could not be read"},
		{"a header without end", header + "X: " + strings.Repeat("x", 80<<10), "bad_answer", "Kitebase's answer could not be read"},
	} {
		for _, op := range operations() {
			t.Run(row.name+"/"+op.name, func(t *testing.T) {
				server := serveRaw(t, func(conn net.Conn, _ int) bool {
					_, _ = io.WriteString(conn, strings.Replace(row.answer, "201", fmt.Sprint(op.status), 1))
					return true
				})
				_, err := op.call(t.Context(), newClient(t, server.url))
				failure := requireFailure(t, err, row.kind, "unknown", row.reason)
				require.True(t, failure.Retryable())
				require.Equal(t, 1, server.count())
				require.NotContains(t, err.Error(), "SSH")
			})
		}
	}
}

func TestReset(t *testing.T) {
	server := serveRaw(t, func(conn net.Conn, _ int) bool { return reset(conn) })
	_, err := reply(t.Context(), newClient(t, server.url))
	requireFailure(t, err, "unavailable", "unknown", "connection reset by Kitebase")
}

// With a cancel cause the transport returns the cause, so errors.Is(err, context.Canceled) is false: the state of the
// context is what counts.
func TestCanceled(t *testing.T) {
	for _, answer := range []string{"", "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: 80\r\n\r\n{"} {
		t.Run(fmt.Sprintf("after %d bytes", len(answer)), func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			server := serveRaw(t, func(conn net.Conn, _ int) bool {
				_, _ = io.WriteString(conn, answer)
				cancel(errors.New("the user pressed Esc"))
				return false // and wait for the client to leave
			})
			_, err := reply(ctx, newClient(t, server.url))
			failure := requireFailure(t, err, "canceled", "unknown", "the caller went away")
			require.False(t, failure.Retryable())
		})
	}
	t.Run("before", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		server := serveRaw(t, func(net.Conn, int) bool { return true })
		_, err := reply(ctx, newClient(t, server.url))
		requireFailure(t, err, "canceled", "not_done", "the caller went away")
		require.Zero(t, server.count())
	})
}

// The status decides even if the body that explains it never comes.
func TestAFailureWithoutItsBody(t *testing.T) {
	for status, want := range map[int][2]string{
		503: {"unavailable", "unknown"},
		429: {"rate_limited", "not_done"},
		409: {"conflict", "unknown"},
	} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			server := serveRaw(t, func(conn net.Conn, _ int) bool {
				_, _ = fmt.Fprintf(conn, "HTTP/1.1 %d Words\r\nContent-Length: 80\r\n\r\n{", status)
				return true
			})
			_, err := reply(t.Context(), newClient(t, server.url))
			failure := asError(t, err)
			require.Equal(t, want, [2]string{failure.Kind(), failure.Outcome().String()})
		})
	}
}
