package kitebase_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/fakeapi"
	"github.com/kitebase/kitebase-mcp/tools/kitebase"
)

// checkedDesk is a fake Kitebase behind a checkpoint: every request and every answer that passes is held against the
// OpenAPI document. Client and fake share no type, so the document is where they meet.
type checkedDesk struct {
	t      *testing.T
	fake   *fakeapi.Fake
	router routers.Router
	answer string // the body of the latest answer
}

func newCheckedDesk(t *testing.T, config fakeapi.Config) (*checkedDesk, *kitebase.Client) {
	t.Helper()
	spec, err := openapi3.NewLoader().LoadFromFile("../../fakeapi/openapi.yaml")
	require.NoError(t, err)
	router, err := gorillamux.NewRouter(spec)
	require.NoError(t, err)
	fake, err := fakeapi.New(config)
	require.NoError(t, err)
	t.Cleanup(fake.Close)
	desk := &checkedDesk{t: t, fake: fake, router: router}
	server := httptest.NewServer(desk)
	t.Cleanup(server.Close)
	return desk, newClient(t, server.URL)
}

func (d *checkedDesk) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	if err := d.check(w, r, body); err != nil {
		d.t.Errorf("%s %s %s: %v", r.Method, r.RequestURI, body, err)
	}
}

func (d *checkedDesk) check(w http.ResponseWriter, r *http.Request, body []byte) error {
	route, params, err := d.router.FindRoute(r)
	if err != nil {
		return err
	}
	request := &openapi3filter.RequestValidationInput{
		Request: r, PathParams: params, Route: route,
		Options: &openapi3filter.Options{
			AuthenticationFunc:                openapi3filter.NoopAuthenticationFunc,
			RejectWhenRequestBodyNotSpecified: true,
			IncludeResponseStatus:             true,
		},
	}
	if err := openapi3filter.ValidateRequest(r.Context(), request); err != nil {
		return err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	recorder := httptest.NewRecorder()
	d.fake.ServeHTTP(recorder, r)
	d.answer = recorder.Body.String()
	for name, values := range recorder.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(recorder.Code)
	_, _ = w.Write(recorder.Body.Bytes())
	return openapi3filter.ValidateResponse(r.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: request, Status: recorder.Code, Header: recorder.Header(),
		Body: io.NopCloser(strings.NewReader(d.answer)), Options: request.Options,
	})
}

// requireSame holds what the client decoded against the bytes that came: every field, none lost, none renamed. The client
// says "" where Kitebase says null.
func (d *checkedDesk) requireSame(decoded any) {
	d.t.Helper()
	raw, err := json.Marshal(decoded)
	require.NoError(d.t, err)
	require.JSONEq(d.t, strings.ReplaceAll(d.answer, ":null", `:""`), string(raw))
}

func TestConformance(t *testing.T) {
	for _, op := range operations() {
		t.Run(op.name, func(t *testing.T) {
			desk, client := newCheckedDesk(t, fakeapi.Config{Token: "s3cret-token"})
			got, err := op.call(t.Context(), client)
			require.NoError(t, err)
			if op.name == "search_help" { // the client takes the list out of its wrapper
				got = map[string]any{"articles": got}
			}
			desk.requireSame(got)
			require.Len(t, desk.fake.Requests(), 1)
		})
	}
}

func TestConformanceOfPages(t *testing.T) {
	desk, client := newCheckedDesk(t, fakeapi.Config{})
	seen := map[string]bool{}
	total := 0
	query := kitebase.TicketQuery{Status: "open", Limit: 5}
	for pages := 0; pages == 0 || query.Cursor != ""; pages++ {
		require.Less(t, pages, 50, "the pages do not end")
		page, err := client.SearchTickets(t.Context(), query)
		require.NoError(t, err)
		desk.requireSame(page)
		for _, ticket := range page.Tickets {
			require.False(t, seen[ticket.ID], "%s came twice", ticket.ID)
			seen[ticket.ID] = true
		}
		total, query.Cursor = page.Total, page.NextCursor
	}
	require.Len(t, seen, total)
	require.Greater(t, total, 5)
}

func TestConformanceOfFailures(t *testing.T) {
	desk, client := newCheckedDesk(t, fakeapi.Config{Token: "s3cret-token"})

	_, err := client.GetTicket(t.Context(), "KITE-412")
	require.Equal(t, kitebase.KindNotFound, asError(t, err).Kind())
	require.Equal(t, "urn:kitebase:problem:ticket-not-found", asError(t, err).ProblemType)

	_, err = client.AssignTicket(t.Context(), "KITE-142", "nobody-of-that-name")
	require.Equal(t, kitebase.KindInvalid, asError(t, err).Kind())
	require.Equal(t, "urn:kitebase:problem:unknown-assignee", asError(t, err).ProblemType)

	send := func(message string) (kitebase.Receipt, error) {
		return client.Reply(t.Context(), kitebase.Reply{TicketID: "KITE-142", Message: message, Key: "9edb4ee9f524df95"})
	}
	first, err := send("Any update?")
	require.NoError(t, err)
	require.False(t, first.Replayed)
	again, err := send("Any update?")
	require.NoError(t, err)
	require.True(t, again.Replayed)
	require.Equal(t, first.ReplyID, again.ReplyID)
	_, err = send("Another text")
	require.Equal(t, kitebase.KindKeyReused, asError(t, err).Kind())
	require.Len(t, desk.fake.Outbox(), 1)

	ticket, err := client.GetTicket(t.Context(), "KITE-142")
	require.NoError(t, err)
	desk.requireSame(ticket)
	last := ticket.Messages[len(ticket.Messages)-1]
	require.Equal(t, first.ReplyID, last.ID)
	require.Equal(t, "9edb4ee9f524df95", last.IdempotencyKey)
}

func TestConformanceOfTokens(t *testing.T) {
	_, client := newCheckedDesk(t, fakeapi.Config{Token: "another-token"})
	for _, op := range operations()[:2] {
		_, err := op.call(t.Context(), client)
		require.Equal(t, "Kitebase refused the access token", asError(t, err).Reason())
	}
}
