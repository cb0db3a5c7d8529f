package kitebase_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/fakeapi"
	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/tools/kitebase"
)

// faultRow is a fault of the fake and what the client must make of it.
type faultRow struct {
	fault   fakeapi.Fault
	kind    string
	outcome idempotency.Outcome
	reason  string
	sent    int // emails, if the operation is the reply
}

func faultRows() []faultRow {
	const unknown, notDone = idempotency.Unknown, idempotency.NotDone
	return []faultRow{
		{fakeapi.Fault{Kind: fakeapi.FaultDrop}, "unavailable", unknown, "connection reset by Kitebase", 0},
		{fakeapi.Fault{Kind: fakeapi.FaultLose}, "unavailable", unknown, "connection reset by Kitebase", 1},
		{fakeapi.Fault{Kind: fakeapi.FaultGarble}, "bad_answer", unknown, "Kitebase answered with a web page instead of data", 1},
		{fakeapi.Fault{Kind: fakeapi.FaultTruncate}, "bad_answer", unknown, cutOff, 1},
		{fakeapi.Fault{Kind: fakeapi.FaultRedirect}, "misconfigured", unknown, "Kitebase redirected the request", 0},
		{fakeapi.Fault{Kind: fakeapi.FaultFailAfterCommit}, "unavailable", unknown, "Kitebase answered 500", 1},
		{fakeapi.Fault{Kind: fakeapi.FaultStatus, Status: 503}, "unavailable", unknown, "Kitebase answered 503", 0},
		{fakeapi.Fault{Kind: fakeapi.FaultStatus, Status: 429}, "rate_limited", notDone, "Kitebase is limiting requests", 0},
		{fakeapi.Fault{Kind: fakeapi.FaultHang}, "timeout", unknown, "no answer from Kitebase in time", 1},
		{fakeapi.Fault{Kind: fakeapi.FaultStall}, "timeout", unknown, "no answer from Kitebase in time", 1},
		{fakeapi.Fault{Kind: fakeapi.FaultSlow, Delay: time.Second}, "timeout", unknown, "no answer from Kitebase in time", 1},
	}
}

func TestFaults(t *testing.T) {
	for _, row := range faultRows() {
		for _, op := range operations() {
			t.Run(string(row.fault.Kind)+"/"+op.name+"/"+row.kind, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					fake, client := pipedDesk(t)
					require.NoError(t, fake.SetFault(op.name, row.fault))
					ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
					defer cancel()
					_, err := op.call(ctx, client)
					requireFailure(t, err, row.kind, row.outcome.String(), row.reason)

					time.Sleep(2 * time.Second) // until slow work is done
					require.Len(t, fake.Requests(), 1, "one call, one request")
					if op.name == "reply_to_customer" {
						require.Len(t, fake.Outbox(), row.sent)
						require.False(t, row.outcome == idempotency.NotDone && row.sent > 0, "it was done after all")
					}
				})
			})
		}
	}
}

// The second of two replies with one key, while the first is under way.
func TestInProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake, client := pipedDesk(t)
		require.NoError(t, fake.SetFault("reply_to_customer", fakeapi.Fault{Kind: fakeapi.FaultSlow, Delay: time.Second, Times: 1}))
		first := make(chan error, 1)
		go func() {
			_, err := reply(t.Context(), client)
			first <- err
		}()
		synctest.Wait()
		_, err := reply(t.Context(), client)
		failure := asError(t, err)
		require.Equal(t, kitebase.KindInProgress, failure.Kind())
		require.Equal(t, idempotency.Unknown, failure.Outcome())
		require.Equal(t, time.Second, failure.RetryAfter())
		require.NoError(t, <-first)
		require.Len(t, fake.Outbox(), 1)
	})
}

// pipeListener accepts the server ends of in-memory connections.
type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	close(l.closed)
	return nil
}

func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

func (l *pipeListener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case l.conns <- theirs:
		return ours, nil
	case <-ctx.Done():
		return nil, errors.Join(ctx.Err(), ours.Close(), theirs.Close())
	}
}

// pipedDesk is a fake Kitebase and its client, for use inside a bubble.
func pipedDesk(t *testing.T) (*fakeapi.Fake, *kitebase.Client) {
	t.Helper()
	fake, err := fakeapi.New(fakeapi.Config{})
	require.NoError(t, err)
	listener := &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
	server := &http.Server{Handler: fake, ErrorLog: quiet()}
	go func() { _ = server.Serve(listener) }()
	client := dialing(t, listener.dial)
	t.Cleanup(func() {
		client.Close()
		fake.Close()
		_ = server.Close()
	})
	return fake, client
}
