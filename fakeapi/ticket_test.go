package fakeapi_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/fakeapi"
)

type ticket struct {
	ID, Title, Status string
	Customer          struct{ Name, Email string }
	Assignee          *string
	Version           int
	CreatedAt         time.Time `json:"created_at"`
	UpdatedAt         time.Time `json:"updated_at"`
	Messages          []struct {
		ID, Author, Body string
		CreatedAt        time.Time `json:"created_at"`
	}
}

func (d *desk) ticket(id string) (got ticket) {
	d.t.Helper()
	r := d.do("GET", "/v1/tickets/"+id, "")
	require.Equal(d.t, http.StatusOK, r.status)
	require.NoError(d.t, json.Unmarshal([]byte(r.body), &got))
	return got
}

func TestTheTicketOfTheExamples(t *testing.T) {
	d := newDesk(t, fakeapi.Config{})
	got := d.ticket("KITE-142")
	require.Equal(t, "Customer locked out after SSO change", got.Title)
	require.Equal(t, "Northwind Studio", got.Customer.Name)
	require.Equal(t, "in_progress", got.Status)
	require.Contains(t, d.do("GET", "/v1/help/search?query=locked+out", "").body, `"text":"Locked out of your account: If`)
	require.Equal(t, http.StatusNotFound, d.do("GET", "/v1/tickets/KITE-412", "").status)
}

// Every seed ticket goes through the schema, and every status is to be found.
func TestSeedData(t *testing.T) {
	d := newDesk(t, fakeapi.Config{})
	titles := map[string]string{}
	for _, status := range []string{"open", "in_progress", "waiting", "resolved", "closed"} {
		page := d.searchTickets("status", status, "limit", "100")
		require.Greater(t, page.Total, 4, status)
		for _, id := range page.ids() {
			got := d.ticket(id)
			require.NotContains(t, titles, got.Title, "titles are distinct")
			titles[got.Title] = id
			require.Equal(t, len(got.Messages), got.Version)
			require.Equal(t, got.UpdatedAt, got.Messages[len(got.Messages)-1].CreatedAt)
			require.Equal(t, got.CreatedAt, got.Messages[0].CreatedAt)
			require.True(t, got.UpdatedAt.Before(time.Now()))
		}
	}
	require.GreaterOrEqual(t, len(titles), 60)
}

// A bubble begins in the year 2000, before the seed data was written: it lies in the past all the same, so that
// "has the customer written since?" has the right answer.
func TestSeedDataLiesInThePastInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newPipeDesk(t, fakeapi.Config{})
		for _, id := range d.searchTickets("query", "the", "limit", "100").ids() {
			require.True(t, d.ticket(id).UpdatedAt.Before(time.Now()))
		}
		before := d.ticket("KITE-142").UpdatedAt
		require.NoError(t, d.CustomerWrites("KITE-142", "Any news?"))
		require.True(t, d.ticket("KITE-142").UpdatedAt.After(before))
		require.Equal(t, time.Now().UTC(), d.ticket("KITE-142").UpdatedAt)
		// Two changes at the same instant are still two.
		require.NoError(t, d.CustomerWrites("KITE-142", "Hello?"))
		require.True(t, d.ticket("KITE-142").UpdatedAt.After(time.Now()))
	})
}

func TestAssign(t *testing.T) {
	d := newDesk(t, fakeapi.Config{})
	const path = "/v1/tickets/KITE-142/assignee"
	before := d.ticket("KITE-142")

	r := d.do("PUT", path, `{"assignee":"priya"}`)
	require.Equal(t, http.StatusOK, r.status)
	require.Equal(t, "priya", r.field(t, "assignee"))
	after := d.ticket("KITE-142")
	require.Equal(t, "priya", *after.Assignee)
	require.Equal(t, before.Version+1, after.Version)
	require.True(t, after.UpdatedAt.After(before.UpdatedAt))

	require.Equal(t, r.body, d.do("PUT", path, `{"assignee":"priya"}`).body, "no change, no new version")

	for body, kind := range map[string]string{
		`{"assignee":"nobody"}`: "unknown-assignee",
		`{"assignee":""}`:       "invalid-assignee",
		`{}`:                    "invalid-assignee",
	} {
		r := d.do("PUT", path, body)
		require.Equal(t, http.StatusUnprocessableEntity, r.status)
		require.Equal(t, "urn:kitebase:problem:"+kind, r.field(t, "type"))
	}
	require.Equal(t, after, d.ticket("KITE-142"))
}

func TestWrongTokenMethodOrPath(t *testing.T) {
	d := newDesk(t, fakeapi.Config{Token: "secret"})
	require.Equal(t, http.StatusUnauthorized, d.do("POST", replies, messageBody("Hi")).status)
	r := d.do("POST", replies, messageBody("Hi"), "Authorization", "Bearer wrong")
	require.Equal(t, http.StatusUnauthorized, r.status)
	require.Equal(t, "Bearer", r.header.Get("WWW-Authenticate"))
	require.Equal(t, http.StatusCreated, d.do("POST", replies, messageBody("Hi"), "Authorization", "Bearer secret").status)

	r = d.do("DELETE", "/v1/tickets/KITE-142", "")
	require.Equal(t, http.StatusMethodNotAllowed, r.status)
	require.Equal(t, "GET", r.header.Get("Allow"))
	for _, path := range []string{"/", "/v1/tickets/KITE-142/notes", "/v1/tickets/KITE-142/replies/1", "/v2/tickets"} {
		require.Equal(t, http.StatusNotFound, d.do("GET", path, "").status, path)
	}
	require.Len(t, d.Outbox(), 1)
	require.Len(t, d.Requests(), 8, "also the refused ones")
}
