package kitebase_test

import (
	"bufio"
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/tools/kitebase"
)

func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

// dialing returns a client whose connections come from dial.
func dialing(t *testing.T, dial func(context.Context, string, string) (net.Conn, error)) *kitebase.Client {
	t.Helper()
	client, err := kitebase.New(kitebase.Config{BaseURL: "http://kitebase.test", DialContext: dial})
	require.NoError(t, err)
	t.Cleanup(client.Close)
	return client
}

// pipes returns a client whose connections are pipes; script is the other end of each.
func pipes(t *testing.T, script func(net.Conn)) *kitebase.Client {
	t.Helper()
	return dialing(t, func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go func() {
			defer theirs.Close()
			script(theirs)
		}()
		return ours, nil
	})
}

// readAll reads what the client writes, until it leaves.
func readAll(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }

// stalling reads one request, writes answer, and leaves it at that.
func stalling(answer string) func(net.Conn) {
	return func(conn net.Conn) {
		request, err := http.ReadRequest(bufio.NewReader(conn))
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, request.Body)
		_, _ = io.WriteString(conn, answer)
		readAll(conn)
	}
}

func TestTheDeadlineOfTheContext(t *testing.T) {
	for _, row := range []struct {
		name   string
		script func(net.Conn)
	}{
		{"no answer", readAll},
		{"the header and then nothing", stalling("HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: 80\r\n\r\n{")},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := pipes(t, row.script)
				began := time.Now()
				ctx, cancel := context.WithTimeoutCause(t.Context(), 200*time.Millisecond, io.ErrNoProgress)
				defer cancel()
				_, err := reply(ctx, client)
				failure := requireFailure(t, err, "timeout", "unknown", "no answer from Kitebase in time")
				require.True(t, failure.Retryable())
				require.Equal(t, 200*time.Millisecond, time.Since(began))
			})
		})
	}
}

// stuckConn takes nothing, like a peer with a full window, until it is closed.
type stuckConn struct{ *cutConn }

func (c stuckConn) Write([]byte) (int, error) {
	<-c.closed
	return 0, net.ErrClosed
}

func TestTheDeadlineWhileWriting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := dialing(t, func(context.Context, string, string) (net.Conn, error) {
			return stuckConn{&cutConn{closed: make(chan struct{})}}, nil
		})
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		_, err := reply(ctx, client)
		requireFailure(t, err, "timeout", "unknown", "no answer from Kitebase in time")
	})
}

func TestTheDeadlineWhileDialling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := dialing(t, func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done() // a host that drops every packet
			return nil, ctx.Err()
		})
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		began := time.Now()
		_, err := reply(ctx, client)
		requireFailure(t, err, "timeout", "not_done", "no answer from Kitebase in time")
		require.Equal(t, 200*time.Millisecond, time.Since(began))
	})
}

// A 503 whose body stalled held its call until the deadline, although everything was said in the header.
func TestAStalledFailureDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := pipes(t, stalling("HTTP/1.1 503 Busy\r\nRetry-After: 3\r\nContent-Length: 80\r\n\r\n{"))
		began := time.Now()
		_, err := reply(t.Context(), client)
		failure := asError(t, err)
		require.Equal(t, kitebase.KindUnavailable, failure.Kind())
		require.Equal(t, 3*time.Second, failure.RetryAfter())
		require.Less(t, time.Since(began), time.Second)
	})
}

// The connection of a failure is used again: an outage must not cost a handshake a call.
func TestAFailureKeepsItsConnection(t *testing.T) {
	connections := map[string]bool{}
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		connections[r.RemoteAddr] = true
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, problemOf("about:blank"))
	})
	for range 3 {
		_, err := reply(t.Context(), client)
		require.Error(t, err)
	}
	require.Len(t, connections, 1)
}
