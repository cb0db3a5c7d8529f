package kitebase_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/kitebase/kitebase-mcp/tools/kitebase"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const ticketJSON = `{"id":"KITE-142","title":"Customer locked out after SSO change","status":"in_progress",` +
	`"priority":"high","customer":{"name":"Northwind Studio","email":"it@northwind.example"},"assignee":"priya",` +
	`"version":3,"created_at":"2026-03-02T09:00:00Z","updated_at":"2026-03-02T10:00:00Z",` +
	`"messages":[{"id":"msg_1","author":"customer","body":"We are locked out.","created_at":"2026-03-02T09:00:00Z"},` +
	`{"id":"rpl_1","author":"agent","body":"On it.","created_at":"2026-03-02T10:00:00Z","idempotency_key":"9edb4ee9f524df95"}]}`

const summaryJSON = `{"id":"KITE-142","title":"Customer locked out after SSO change","status":"in_progress",` +
	`"priority":"high","customer":{"name":"Northwind Studio","email":"it@northwind.example"},"assignee":"priya",` +
	`"version":3,"created_at":"2026-03-02T09:00:00Z","updated_at":"2026-03-02T10:00:00Z"}`

const receiptJSON = `{"reply_id":"rpl_001","sent_to":"Northwind Studio","created_at":"2026-03-02T10:00:00Z"}`

// operation is one of the five calls, with the arguments that the tests always use, and a good answer to it.
type operation struct {
	name   string
	writes bool
	status int
	answer string
	call   func(context.Context, *kitebase.Client) (any, error)
}

func operations() []operation {
	return []operation{
		{"search_help", false, 200, `{"articles":[{"id":"account-recovery#2","title":"Recovery","text":"Locked out"}]}`,
			func(ctx context.Context, c *kitebase.Client) (any, error) { return c.SearchHelp(ctx, "locked out", 5) }},
		{"get_ticket", false, 200, ticketJSON,
			func(ctx context.Context, c *kitebase.Client) (any, error) { return c.GetTicket(ctx, "KITE-142") }},
		{"search_tickets", false, 200, `{"tickets":[` + summaryJSON + `],"total":31,"next_cursor":"c2"}`,
			func(ctx context.Context, c *kitebase.Client) (any, error) {
				return c.SearchTickets(ctx, kitebase.TicketQuery{Query: "sso", Status: "open", Limit: 20})
			}},
		{"assign_ticket", true, 200, summaryJSON,
			func(ctx context.Context, c *kitebase.Client) (any, error) {
				return c.AssignTicket(ctx, "KITE-142", "priya")
			}},
		{"reply_to_customer", true, 201, receiptJSON, reply},
	}
}

func reply(ctx context.Context, c *kitebase.Client) (any, error) {
	return c.Reply(ctx, kitebase.Reply{TicketID: "KITE-142", Message: "Any update?", Key: "9edb4ee9f524df95"})
}

// newClient returns a client of base that is closed before the servers of the test are.
func newClient(t *testing.T, base string) *kitebase.Client {
	t.Helper()
	client, err := kitebase.New(kitebase.Config{BaseURL: base, Token: "s3cret-token", Version: "1.2.3"})
	require.NoError(t, err)
	t.Cleanup(client.Close)
	return client
}

// serve starts an HTTP server and returns a client of it.
func serve(t *testing.T, handler http.HandlerFunc) *kitebase.Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return newClient(t, server.URL)
}

// answering serves one fixed answer.
func answering(t *testing.T, status int, contentType, body string) *kitebase.Client {
	t.Helper()
	return serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	})
}

// rawServer is a listener that reads whole HTTP requests and lets a script answer them byte by byte.
type rawServer struct {
	url string

	mu       sync.Mutex
	requests []string // method and path, in order of arrival
}

// serveRaw calls script with each request, numbered from 1 on its connection, until script says that it is done with the
// connection.
func serveRaw(t *testing.T, script func(conn net.Conn, n int) (done bool)) *rawServer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := &rawServer{url: "http://" + listener.Addr().String()}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			running.Go(func() { server.read(conn, script) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		running.Wait()
	})
	return server
}

func (s *rawServer) read(conn net.Conn, script func(net.Conn, int) bool) {
	defer conn.Close()
	reader := bufio.NewReader(conn)
	for n := 1; ; n++ {
		request, err := http.ReadRequest(reader)
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, request.Body)
		s.mu.Lock()
		s.requests = append(s.requests, request.Method+" "+request.URL.Path)
		s.mu.Unlock()
		if script(conn, n) {
			return
		}
	}
}

func (s *rawServer) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.requests)
}

// reset ends a TCP connection with RST instead of FIN.
func reset(conn net.Conn) bool {
	_ = conn.(*net.TCPConn).SetLinger(0)
	_ = conn.Close()
	return true
}

// rawAnswer is a script that answers every request with the same bytes.
func rawAnswer(status int, header, body string) func(net.Conn, int) bool {
	return func(conn net.Conn, _ int) bool {
		_, _ = fmt.Fprintf(conn, "HTTP/1.1 %d Words\r\n%s\r\nContent-Length: %d\r\n\r\n%s", status, header, len(body), body)
		return true
	}
}

func asError(t *testing.T, err error) *kitebase.Error {
	t.Helper()
	var failure *kitebase.Error
	require.True(t, errors.As(err, &failure), "not a *kitebase.Error: %v", err)
	return failure
}
