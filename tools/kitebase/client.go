package kitebase

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
)

// Client speaks to one Kitebase. It is safe for concurrent use; create it with [New].
type Client struct {
	base      string
	token     string
	header    http.Header // sent with every request, never changed
	transport *http.Transport
	headers   func(context.Context, http.Header) // nil: none
	onAnswer  func(http.Header)
}

// New returns a client, or what [Config.Validate] has against config. It opens no connection and starts no goroutine.
func New(config Config) (*Client, error) {
	config = config.withDefaults()
	if err := config.Validate(); err != nil {
		return nil, err
	}
	header := http.Header{}
	header.Set("Accept", "application/json")
	header.Set("User-Agent", "kitebase-mcp/"+config.Version)
	if config.Token != "" {
		header.Set("Authorization", "Bearer "+config.Token)
	}
	return &Client{
		base: config.BaseURL, token: config.Token, header: header, transport: newTransport(config),
		headers: config.Headers, onAnswer: config.OnAnswer,
	}, nil
}

// Close closes the idle connections. Calls under way are left alone, and the client can still be used.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// SearchHelp returns the help articles that fit query, best first; none is an empty list. A limit of 0 leaves the number
// to Kitebase. Errors are *Error.
func (c *Client) SearchHelp(ctx context.Context, query string, limit int) ([]Article, error) {
	page, err := fetch(ctx, c, request{
		operation: "search_help",
		method:    http.MethodGet,
		path:      "/v1/help/search",
		query:     values("query", query, "limit", count(limit)),
	}, articlePage.check)
	return page.Articles, err
}

// GetTicket returns the ticket with its whole conversation. Errors are *Error.
func (c *Client) GetTicket(ctx context.Context, id string) (Ticket, error) {
	return fetch(ctx, c, request{
		operation: "get_ticket",
		method:    http.MethodGet,
		path:      ticketPath(id, ""),
	}, func(t Ticket) error { return t.check(id) })
}

// SearchTickets returns one page of the tickets that fit, best first; none is an empty list. Errors are *Error.
func (c *Client) SearchTickets(ctx context.Context, q TicketQuery) (TicketPage, error) {
	return fetch(ctx, c, request{
		operation: "search_tickets",
		method:    http.MethodGet,
		path:      "/v1/tickets",
		query:     values("query", q.Query, "status", q.Status, "limit", count(q.Limit), "cursor", q.Cursor),
	}, TicketPage.check)
}

// AssignTicket makes assignee the owner of the ticket and returns the ticket as it is then. To repeat it changes nothing
// more. Errors are *Error.
func (c *Client) AssignTicket(ctx context.Context, id, assignee string) (TicketSummary, error) {
	return fetch(ctx, c, request{
		operation: "assign_ticket",
		method:    http.MethodPut,
		path:      ticketPath(id, "/assignee"),
		body:      map[string]string{"assignee": assignee},
	}, func(t TicketSummary) error { return t.checkAssigned(id, assignee) })
}

// Reply sends a message to the customer of the ticket. With the key of an earlier reply Kitebase sends nothing and returns
// the receipt of that one, marked as replayed. Errors are *Error; what is known about the email is its Outcome.
func (c *Client) Reply(ctx context.Context, r Reply) (Receipt, error) {
	req := request{
		operation: "reply_to_customer",
		method:    http.MethodPost,
		path:      ticketPath(r.TicketID, "/replies"),
		body:      map[string]string{"message": r.Message},
		key:       r.Key,
	}
	got, err := c.exchange(ctx, req)
	if err != nil {
		return Receipt{}, err
	}
	receipt, err := decode(got, Receipt.check)
	if err != nil {
		return Receipt{}, err
	}
	receipt.Replayed = got.replayed()
	return receipt, nil
}

// fetch makes one exchange and reads its answer.
func fetch[T any](ctx context.Context, c *Client, req request, check func(T) error) (T, error) {
	got, err := c.exchange(ctx, req)
	if err != nil {
		var none T
		return none, err
	}
	return decode(got, check)
}

// ticketPath returns the path of a ticket, or "" for an id that would lead to another resource than a ticket: escaping
// leaves dots alone, and servers and proxies resolve them.
func ticketPath(id, rest string) string {
	if id == "" || id == "." || id == ".." {
		return ""
	}
	return "/v1/tickets/" + url.PathEscape(id) + rest
}

// values makes a query of names and values, without the empty ones.
func values(pairs ...string) url.Values {
	query := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			query.Set(pairs[i], pairs[i+1])
		}
	}
	return query
}

func count(n int) string {
	if n <= 0 {
		return ""
	}
	return strconv.Itoa(n)
}
