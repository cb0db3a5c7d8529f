package tools

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/kitebase/kitebase-mcp/tools/kitebase"
)

const blankTicketQuery = `Give a few words to search for, or "" together with a status.`

type ticketHits struct {
	Tickets  []summary `json:"tickets" about:"Best match first; without a query, last changed first."`
	Total    int       `json:"total" about:"How many tickets match, shown or not."`
	DataNote string    `json:"data_note,omitempty" about:"How to read what people wrote."`
	notes
}

// summary is a ticket without its conversation.
type summary struct {
	ID        string    `json:"id"`
	Title     string    `json:"title"`
	Status    string    `json:"status"`
	Priority  string    `json:"priority"`
	Customer  customer  `json:"customer"`
	Assignee  string    `json:"assignee" about:"Empty if nobody."`
	Version   int       `json:"version" about:"Rises with each change."`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`

	cleaned bool // something was removed from its text
}

type customer struct {
	Name  string `json:"name"`
	Email string `json:"email"`
}

func (h handlers) searchTickets(ctx context.Context, in values) (*mcp.CallToolResult, error) {
	query, status := in["query"], in["status"]
	if query == "" && status == "" {
		return nil, refuse("The query is blank. %s", blankTicketQuery)
	}
	page, err := h.client.SearchTickets(ctx, kitebase.TicketQuery{Query: query, Status: status, Limit: maxHits})
	if err != nil {
		return nil, err
	}
	return success(wordHits(page, query, status)), nil
}

func wordHits(page kitebase.TicketPage, query, status string) ticketHits {
	hits := ticketHits{Tickets: make([]summary, 0, maxHits), Total: max(page.Total, len(page.Tickets))}
	if len(page.Tickets) == 0 {
		hits.Note = noHits(query, status)
		return hits
	}
	hits.DataNote = data
	for _, t := range page.Tickets[:min(len(page.Tickets), maxHits)] {
		hits.Tickets = append(hits.Tickets, summarize(t))
	}
	hits.Tickets = hits.Tickets[:fit(hits.Tickets, maxObject)]
	if page.NextCursor != "" {
		hits.Total = max(hits.Total, len(page.Tickets)+1)
	}
	if shown := len(hits.Tickets); shown < hits.Total {
		hits.shorten(fmt.Sprintf("Shown: the first %d of %d tickets. Narrow the search to see others.",
			shown, hits.Total))
	}
	hits.clean(slices.ContainsFunc(hits.Tickets, func(t summary) bool { return t.cleaned }))
	return hits
}

// noHits says what was searched for, and what to try instead.
func noHits(query, status string) string {
	switch {
	case query == "":
		return "No ticket has the status " + status + ". Try another one."
	case status == "":
		return fmt.Sprintf("No ticket matches %s. Try other or fewer words.", quoted(query))
	default:
		return fmt.Sprintf("No ticket with the status %s matches %s. Try other words, or leave the status out.", status, quoted(query))
	}
}

func summarize(t kitebase.TicketSummary) summary {
	var read reader
	worded := summary{
		ID:        read.short(t.ID),
		Title:     read.short(t.Title),
		Status:    read.short(t.Status),
		Priority:  read.short(t.Priority),
		Customer:  customer{read.short(t.Customer.Name), read.short(t.Customer.Email)},
		Assignee:  read.short(t.Assignee),
		Version:   t.Version,
		CreatedAt: t.CreatedAt,
		UpdatedAt: t.UpdatedAt,
	}
	worded.cleaned = read.cleaned
	return worded
}
