package fakeapi_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/fakeapi"
)

type ticketPage struct {
	Tickets []struct {
		ID, Status string
		UpdatedAt  time.Time `json:"updated_at"`
	}
	Total      int
	NextCursor *string `json:"next_cursor"`
}

func (p ticketPage) ids() (ids []string) {
	for _, t := range p.Tickets {
		ids = append(ids, t.ID)
	}
	return ids
}

func (d *desk) searchTickets(params ...string) (page ticketPage) {
	d.t.Helper()
	require.NoError(d.t, json.Unmarshal([]byte(d.do("GET", "/v1/tickets?"+query(params...), "").body), &page))
	return page
}

func (d *desk) searchHelp(params ...string) (ids []string) {
	d.t.Helper()
	var found struct{ Articles []struct{ ID string } }
	require.NoError(d.t, json.Unmarshal([]byte(d.do("GET", "/v1/help/search?"+query(params...), "").body), &found))
	for _, a := range found.Articles {
		ids = append(ids, a.ID)
	}
	return ids
}

func query(params ...string) string {
	values := url.Values{}
	for i := 0; i < len(params); i += 2 {
		values.Set(params[i], params[i+1])
	}
	return values.Encode()
}

func TestSearchRanks(t *testing.T) {
	d := newDesk(t, fakeapi.Config{})
	for question, best := range map[string]string{
		"locked out after SSO change":      "account-recovery#2",
		"API limit 429":                    "api-limits#2",
		"webhook signature does not match": "webhooks#2",
		"lost phone second factor":         "two-factor#2",
		"CSV rows limit import":            "imports#1",
	} {
		require.Equal(t, best, d.searchHelp("query", question)[0], question)
	}
	for question, best := range map[string]string{
		"locked out after SSO change": "KITE-142",
		"KITE-107":                    "KITE-107",
		"charged twice":               "KITE-168",
		"brightwater nurses codes":    "KITE-103",
	} {
		require.Equal(t, best, d.searchTickets("query", question).ids()[0], question)
	}
}

func TestSearchTakesAnyText(t *testing.T) {
	d := newDesk(t, fakeapi.Config{})
	for _, text := range []string{`"`, `sso" OR title:"x`, "NEAR(sso, 2)", "sso*", "AND", "-sso", "'; DROP TABLE tickets; --", "日本語", "\x00", "e\u0301"} {
		d.searchTickets("query", text)
		d.searchHelp("query", text)
	}
	require.Empty(t, d.searchHelp("query", "?!"))
	require.Zero(t, d.searchTickets("query", "zyzzyva").Total)
	require.Equal(t, "KITE-142", d.searchTickets("query", "locked out after SSO change").ids()[0])
}

func TestSearchTicketsByStatus(t *testing.T) {
	d := newDesk(t, fakeapi.Config{})
	all := d.searchTickets("status", "waiting", "limit", "100")
	require.Greater(t, all.Total, 5)
	require.Len(t, all.Tickets, all.Total)
	for i, ticket := range all.Tickets {
		require.Equal(t, "waiting", ticket.Status)
		require.False(t, i > 0 && ticket.UpdatedAt.After(all.Tickets[i-1].UpdatedAt), "last changed first")
	}
	oldest := all.ids()[all.Total-1]
	require.NoError(t, d.CustomerWrites(oldest, "Any news?"))
	require.Equal(t, oldest, d.searchTickets("status", "waiting").ids()[0])

	both := d.searchTickets("query", "sso", "status", "in_progress")
	require.Contains(t, both.ids(), "KITE-142")
	require.NotContains(t, both.ids(), "KITE-119", "it is open")
}

func TestPagesHoldEveryTicketOnce(t *testing.T) {
	d := newDesk(t, fakeapi.Config{})
	whole := d.searchTickets("query", "the account is not", "limit", "100")
	require.Greater(t, whole.Total, 20)
	require.Len(t, d.searchTickets("query", "the account is not").Tickets, 20, "the default")
	var walked []string
	cursor := ""
	for {
		page := d.searchTickets("query", "the account is not", "limit", "7", "cursor", cursor)
		walked = append(walked, page.ids()...)
		require.Equal(t, whole.Total, page.Total)
		if page.NextCursor == nil {
			break
		}
		cursor = *page.NextCursor
	}
	require.Equal(t, whole.ids(), walked)
	require.Len(t, slices.Compact(slices.Sorted(slices.Values(walked))), whole.Total)
}

func TestRefusedSearches(t *testing.T) {
	d := newDesk(t, fakeapi.Config{})
	for path, kind := range map[string]string{
		"/v1/help/search":                      "invalid-query",
		"/v1/help/search?query=+%0A":           "invalid-query",
		"/v1/help/search?query=sso&limit=51":   "invalid-limit",
		"/v1/help/search?query=sso&limit=many": "invalid-limit",
		"/v1/tickets":                          "invalid-query",
		"/v1/tickets?query=+":                  "invalid-query",
		"/v1/tickets?query=sso&status=lost":    "invalid-status",
		"/v1/tickets?query=sso&limit=0":        "invalid-limit",
		"/v1/tickets?query=sso&limit=101":      "invalid-limit",
		"/v1/tickets?query=sso&cursor=%3F":     "invalid-cursor",
		"/v1/tickets?query=sso&cursor=abcd":    "invalid-cursor",
	} {
		r := d.do("GET", path, "")
		require.Equal(t, http.StatusBadRequest, r.status, path)
		require.Equal(t, "urn:kitebase:problem:"+kind, r.field(t, "type"), path)
	}
}

// The index is one for the process, and nothing in it may belong to the bubble that came first: a channel of another
// bubble is a panic. The extra word makes each bubble really ask SQLite instead of finding the answer remembered.
func TestSearchWorksInEveryBubble(t *testing.T) {
	for _, word := range []string{"firstbubble", "secondbubble"} {
		synctest.Test(t, func(t *testing.T) {
			d := newPipeDesk(t, fakeapi.Config{})
			require.Equal(t, "account-recovery#2", d.searchHelp("query", "locked out after SSO change "+word)[0])
			require.Equal(t, "KITE-142", d.searchTickets("query", "locked out after SSO change "+word).ids()[0])
		})
	}
}
