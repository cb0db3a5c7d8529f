package kitebase_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/tools/kitebase"
)

// tapeConn takes everything and answers from a tape, from the moment that something was written.
type tapeConn struct {
	*cutConn
	tape    *bytes.Reader
	written chan struct{}
}

func (c *tapeConn) Write(b []byte) (int, error) {
	select {
	case <-c.written:
	default:
		close(c.written)
	}
	return len(b), nil
}

func (c *tapeConn) Read(b []byte) (int, error) {
	select {
	case <-c.written:
		return c.tape.Read(b)
	case <-c.closed:
		return 0, io.EOF
	}
}

func taped(t *testing.T, tape []byte) *kitebase.Client {
	return dialing(t, func(context.Context, string, string) (net.Conn, error) {
		return &tapeConn{&cutConn{closed: make(chan struct{})}, bytes.NewReader(tape), make(chan struct{})}, nil
	})
}

// Whatever Kitebase answers: no panic, and either a checked success or an *Error that tells something.
func FuzzDecoding(f *testing.F) {
	for i, op := range operations() {
		f.Add(uint8(i), op.answer)
		f.Add(uint8(i), strings.Replace(op.answer, "KITE-142", "KITE-143", 1))
		f.Add(uint8(i), op.answer+"{}")
		f.Add(uint8(i), op.answer[:len(op.answer)/2])
	}
	for _, text := range []string{"", "null", "[]", `{"ok":false}`, "<html>", `{"articles":[null]}`, `{"tickets":[{}],"total":1}`} {
		f.Add(uint8(1), text)
	}
	f.Fuzz(func(t *testing.T, which uint8, body string) {
		op := operations()[int(which)%len(operations())]
		status := "HTTP/1.1 200 OK\r\n"
		got, err := op.call(t.Context(), taped(t, []byte(status+"Content-Type: application/json\r\n\r\n"+body)))
		checkResult(t, got, err)
	})
}

// The same for what is not even HTTP.
func FuzzAnswer(f *testing.F) {
	const header = "Content-Type: application/json\r\n"
	for i, op := range operations() {
		f.Add(uint8(i), "HTTP/1.1 200 OK\r\n"+header+"\r\n"+op.answer)
	}
	for _, text := range []string{
		"", "\r\n\r\n", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No\r\n\r\n", "HTTP/1.1 101 S\r\n\r\n",
		"HTTP/1.1 409 C\r\n\r\n" + problemOf(inProgress), "HTTP/1.1 503 B\r\nRetry-After: 9223372036854775808\r\n\r\n",
		"HTTP/1.1 201 C\r\n" + header + "Content-Length: 5\r\n\r\n{}", "HTTP/1.1 201 C\r\n" + header + "Transfer-Encoding: chunked\r\n\r\nff\r\n{}",
	} {
		f.Add(uint8(4), text)
	}
	f.Fuzz(func(t *testing.T, which uint8, tape string) {
		op := operations()[int(which)%len(operations())]
		got, err := op.call(t.Context(), taped(t, []byte(tape)))
		checkResult(t, got, err)
		var failure *kitebase.Error
		if errors.As(err, &failure) && failure.Status == 0 && failure.Outcome() != idempotency.Unknown {
			t.Fatalf("the request was written, and still: %v", err)
		}
	})
}

// checkResult holds a result against what the client promises about every one.
func checkResult(t *testing.T, got any, err error) {
	t.Helper()
	var failure *kitebase.Error
	switch {
	case err != nil && !errors.As(err, &failure):
		t.Fatalf("not an *Error: %v", err)
	case err != nil && (failure.Kind() == "" || failure.Reason() == "" || failure.Outcome() == idempotency.Done):
		t.Fatalf("an *Error that tells nothing or the wrong thing: %v", err)
	case err != nil:
		return
	}
	ok := false
	switch value := got.(type) {
	case []kitebase.Article:
		ok = value != nil
	case kitebase.Ticket:
		ok = value.ID == "KITE-142" && value.Messages != nil && !value.CreatedAt.IsZero()
	case kitebase.TicketPage:
		ok = value.Tickets != nil && value.Total >= len(value.Tickets)
	case kitebase.TicketSummary:
		ok = value.ID == "KITE-142" && strings.EqualFold(value.Assignee, "priya")
	case kitebase.Receipt:
		ok = value.ReplyID != "" && value.SentTo != "" && !value.CreatedAt.IsZero()
	}
	if !ok {
		t.Fatalf("a success that was not checked: %+v", got)
	}
}
