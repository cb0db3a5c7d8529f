package kitebase_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/tools/kitebase"
)

func TestRequests(t *testing.T) {
	want := map[string]struct{ line, body string }{
		"search_help":       {"GET /v1/help/search?limit=5&query=locked+out", ""},
		"get_ticket":        {"GET /v1/tickets/KITE-142", ""},
		"search_tickets":    {"GET /v1/tickets?limit=20&query=sso&status=open", ""},
		"assign_ticket":     {"PUT /v1/tickets/KITE-142/assignee", `{"assignee":"priya"}`},
		"reply_to_customer": {"POST /v1/tickets/KITE-142/replies", `{"message":"Any update?"}`},
	}
	for _, op := range operations() {
		t.Run(op.name, func(t *testing.T) {
			var line, body string
			var header http.Header
			var length int64
			client := serve(t, func(w http.ResponseWriter, r *http.Request) {
				raw, _ := io.ReadAll(r.Body)
				line, body, header, length = r.Method+" "+r.RequestURI, string(raw), r.Header, r.ContentLength
				w.Header().Set("Content-Type", "application/json; charset=utf-8")
				w.WriteHeader(op.status)
				_, _ = io.WriteString(w, op.answer)
			})
			_, err := op.call(t.Context(), client)
			require.NoError(t, err)
			require.Equal(t, want[op.name].line, line)
			require.Equal(t, want[op.name].body, body)
			require.EqualValues(t, len(body), length, "the length of the body must be announced, 0 for none")
			require.Equal(t, "Bearer s3cret-token", header.Get("Authorization"))
			require.Equal(t, "kitebase-mcp/1.2.3", header.Get("User-Agent"))
			require.Equal(t, "application/json", header.Get("Accept"))
			require.Equal(t, body != "", header.Get("Content-Type") == "application/json")
			key := ""
			if op.name == "reply_to_customer" {
				key = "9edb4ee9f524df95"
			}
			require.Equal(t, key, header.Get("Idempotency-Key"))
		})
	}
}

func TestNoKeyNoHeader(t *testing.T) {
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		require.NotContains(t, r.Header, "Idempotency-Key")
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, receiptJSON)
	})
	_, err := client.Reply(t.Context(), kitebase.Reply{TicketID: "KITE-142", Message: "Hello"})
	require.NoError(t, err)
}

func TestPathSegmentsAreEscaped(t *testing.T) {
	for id, want := range map[string]string{
		"a/b":      "/v1/tickets/a%2Fb",
		"a?b#c":    "/v1/tickets/a%3Fb%23c",
		"../admin": "/v1/tickets/..%2Fadmin",
		"a%2Fb":    "/v1/tickets/a%252Fb",
		"a\r\nb":   "/v1/tickets/a%0D%0Ab",
	} {
		t.Run(want, func(t *testing.T) {
			var uri string
			client := serve(t, func(w http.ResponseWriter, r *http.Request) {
				uri = r.RequestURI
				http.NotFound(w, r)
			})
			_, err := client.GetTicket(t.Context(), id)
			require.Equal(t, kitebase.KindNotFound, asError(t, err).Kind())
			require.Equal(t, want, uri)
		})
	}
}

// Escaping leaves dots alone, and a server that resolves them would have taken the POST for another resource.
func TestIDsThatAreNoneAreRefused(t *testing.T) {
	client := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("a request went out") })
	for _, id := range []string{"", ".", ".."} {
		_, err := client.Reply(t.Context(), kitebase.Reply{TicketID: id, Message: "Hello"})
		failure := asError(t, err)
		require.Equal(t, kitebase.KindInvalid, failure.Kind())
		require.True(t, failure.Refused())
		require.Equal(t, "not_done", failure.Outcome().String())
	}
}

func TestAnswersAreDecoded(t *testing.T) {
	at := func(hour int) time.Time { return time.Date(2026, 3, 2, hour, 0, 0, 0, time.UTC) }
	summary := kitebase.TicketSummary{
		ID: "KITE-142", Title: "Customer locked out after SSO change", Status: "in_progress", Priority: "high",
		Customer: kitebase.Customer{Name: "Northwind Studio", Email: "it@northwind.example"},
		Assignee: "priya", Version: 3, CreatedAt: at(9), UpdatedAt: at(10),
	}
	want := map[string]any{
		"search_help": []kitebase.Article{{ID: "account-recovery#2", Title: "Recovery", Text: "Locked out"}},
		"get_ticket": kitebase.Ticket{
			ID: summary.ID, Title: summary.Title, Status: summary.Status, Priority: summary.Priority,
			Customer: summary.Customer, Assignee: summary.Assignee, Version: 3, CreatedAt: at(9), UpdatedAt: at(10),
			Messages: []kitebase.Message{
				{ID: "msg_1", Author: "customer", Body: "We are locked out.", CreatedAt: at(9)},
				{ID: "rpl_1", Author: "agent", Body: "On it.", CreatedAt: at(10), IdempotencyKey: "9edb4ee9f524df95"},
			},
		},
		"search_tickets":    kitebase.TicketPage{Tickets: []kitebase.TicketSummary{summary}, Total: 31, NextCursor: "c2"},
		"assign_ticket":     summary,
		"reply_to_customer": kitebase.Receipt{ReplyID: "rpl_001", SentTo: "Northwind Studio", CreatedAt: at(10)},
	}
	for _, op := range operations() {
		t.Run(op.name, func(t *testing.T) {
			got, err := op.call(t.Context(), answering(t, op.status, "application/json", op.answer))
			require.NoError(t, err)
			require.Equal(t, want[op.name], got)
		})
	}
}

func TestEmptyListsAreNotNil(t *testing.T) {
	articles, err := answering(t, 200, "application/json", `{"articles":[]}`).SearchHelp(t.Context(), "x", 0)
	require.NoError(t, err)
	require.Equal(t, []kitebase.Article{}, articles)

	page, err := answering(t, 200, "application/json", `{"tickets":[],"total":0,"next_cursor":null}`).
		SearchTickets(t.Context(), kitebase.TicketQuery{Query: "x"})
	require.NoError(t, err)
	require.Equal(t, kitebase.TicketPage{Tickets: []kitebase.TicketSummary{}}, page)
}

func TestReplay(t *testing.T) {
	client := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Idempotent-Replayed", "true")
		_, _ = io.WriteString(w, receiptJSON)
	})
	got, err := reply(t.Context(), client)
	require.NoError(t, err)
	require.True(t, got.(kitebase.Receipt).Replayed)
}

func TestBasePathIsKept(t *testing.T) {
	var path string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path = r.URL.Path
		http.NotFound(w, r)
	}))
	t.Cleanup(server.Close)
	for _, suffix := range []string{"/desk", "/desk/", "/desk//"} {
		_, err := newClient(t, server.URL+suffix).GetTicket(t.Context(), "KITE-1")
		require.Error(t, err)
		require.Equal(t, "/desk/v1/tickets/KITE-1", path)
	}
}

// Whoever wants to see the headers sees those of failures too, and none where no answer came.
func TestOnAnswer(t *testing.T) {
	for status, want := range map[int]int{http.StatusOK: 1, http.StatusUnauthorized: 1, http.StatusFound: 1, 0: 0} {
		t.Run(strconv.Itoa(status), func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Date", "Mon, 02 Mar 2026 09:00:00 GMT")
				w.WriteHeader(status)
			}))
			defer server.Close()
			if status == 0 {
				server.Close()
			}
			told := 0
			client, err := kitebase.New(kitebase.Config{BaseURL: server.URL, OnAnswer: func(header http.Header) {
				told++
				require.Equal(t, "Mon, 02 Mar 2026 09:00:00 GMT", header.Get("Date"))
			}})
			require.NoError(t, err)
			defer client.Close()
			_, err = client.GetTicket(t.Context(), "KITE-142")
			require.Error(t, err, "no answer had a body")
			require.Equal(t, want, told)
		})
	}
}

// 64 calls at once must not dial anew each time: http.DefaultTransport keeps two connections of them.
func TestConnectionsAreKept(t *testing.T) {
	const inFlight = 64
	connections := make(map[string]bool)
	arrived := make(chan string)
	release := make(chan struct{})
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		arrived <- r.RemoteAddr
		<-release
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, ticketJSON)
	})
	for range 2 {
		done := make(chan error)
		for range inFlight {
			go func() {
				_, err := client.GetTicket(context.Background(), "KITE-142")
				done <- err
			}()
		}
		for range inFlight {
			connections[<-arrived] = true
		}
		for range inFlight {
			release <- struct{}{}
		}
		for range inFlight {
			require.NoError(t, <-done)
		}
	}
	require.Len(t, connections, inFlight)
}

func TestErrorsHoldNoSecrets(t *testing.T) {
	client := answering(t, 500, "text/html", "<h1>upstream text</h1>")
	_, err := client.SearchHelp(t.Context(), "private words", 3)
	for _, text := range []string{err.Error(), asError(t, err).Reason()} {
		for _, secret := range []string{"s3cret", "private", "127.0.0.1", "http", "upstream text", "/v1/"} {
			require.False(t, strings.Contains(text, secret), "%q holds %q", text, secret)
		}
	}
	require.Equal(t, "search_help: unavailable: Kitebase answered 500 (outcome unknown)", err.Error())
}
