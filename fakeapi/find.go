package fakeapi

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

type article struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Text  string `json:"text"`
}

func (f *Fake) searchHelp(c *call) answer {
	query := c.request.URL.Query()
	if strings.TrimSpace(query.Get("query")) == "" {
		return problem(http.StatusBadRequest, "invalid-query", "The query is blank.")
	}
	limit, refusal := limitOf(query, 10, 50)
	if refusal.status != 0 {
		return refusal
	}
	found, err := f.search.articles(query.Get("query"))
	if err != nil {
		return searchFailed(err)
	}
	return ok(encode(map[string][]article{"articles": found[:min(limit, len(found))]}))
}

func (f *Fake) searchTickets(c *call) answer {
	query := c.request.URL.Query()
	text, status := query.Get("query"), query.Get("status")
	if status != "" && !slices.Contains(statuses(), status) {
		return problem(http.StatusBadRequest, "invalid-status", "The status is one of "+list(statuses())+".")
	}
	limit, refusal := limitOf(query, 20, 100)
	if refusal.status != 0 {
		return refusal
	}
	offset, valid := parseCursor(query.Get("cursor"))
	if !valid {
		return problem(http.StatusBadRequest, "invalid-cursor", "The cursor is none of ours.")
	}
	if strings.TrimSpace(text) == "" && status == "" {
		return problem(http.StatusBadRequest, "invalid-query", "The query is blank, and no status was given.")
	}
	found, err := f.rankTickets(text, status)
	if err != nil {
		return searchFailed(err)
	}
	return ok(encode(page(found, offset, limit)))
}

// rankTickets returns the best match first; without a query, the ticket that changed last. Fake.mu is held.
func (f *Fake) rankTickets(text, status string) ([]summary, error) {
	found := []summary{}
	add := func(t *ticket) {
		if status == "" || t.Status == status {
			found = append(found, t.summary)
		}
	}
	if strings.TrimSpace(text) != "" {
		ids, err := f.search.tickets(text)
		for _, id := range ids {
			add(f.tickets[id])
		}
		return found, err
	}
	for t := range maps.Values(f.tickets) {
		add(t)
	}
	slices.SortFunc(found, func(a, b summary) int {
		return cmp.Or(b.UpdatedAt.Compare(a.UpdatedAt), cmp.Compare(a.ID, b.ID))
	})
	return found, nil
}

type ticketPage struct {
	Tickets    []summary `json:"tickets"`
	Total      int       `json:"total"`
	NextCursor *string   `json:"next_cursor"`
}

// page cuts one page out of the hits. A cursor is an offset: when tickets change between two pages of a list by time,
// the boundary moves, as it does in many an API.
func page(found []summary, offset, limit int) ticketPage {
	start := min(offset, len(found))
	end := min(start+limit, len(found))
	p := ticketPage{Tickets: found[start:end], Total: len(found)}
	if end < len(found) {
		next := base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "from:%d", end))
		p.NextCursor = &next
	}
	return p
}

func parseCursor(cursor string) (offset int, valid bool) {
	if cursor == "" {
		return 0, true
	}
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		return 0, false
	}
	number, ours := strings.CutPrefix(string(text), "from:")
	offset, err = strconv.Atoi(number)
	return offset, ours && err == nil && offset >= 0
}

func limitOf(query url.Values, byDefault, most int) (int, answer) {
	text := query.Get("limit")
	if text == "" {
		return byDefault, answer{}
	}
	limit, err := strconv.Atoi(text)
	if err != nil || limit < 1 || limit > most {
		return 0, problem(http.StatusBadRequest, "invalid-limit", fmt.Sprintf("The limit is a number from 1 to %d.", most))
	}
	return limit, answer{}
}

func searchFailed(err error) answer {
	return problem(http.StatusInternalServerError, "search-failed", "Searching failed: "+err.Error()+".")
}
