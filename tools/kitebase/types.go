package kitebase

import "time"

// Article is a passage of the help centre.
type Article struct {
	ID    string `json:"id"` // like account-recovery#2
	Title string `json:"title"`
	Text  string `json:"text"`
}

// Customer is the company or person that a ticket belongs to.
type Customer struct {
	Name  string `json:"name"`
	Email string `json:"email"`
}

// Message is one entry of a ticket's conversation.
type Message struct {
	ID        string    `json:"id"`     // of a reply: its reply id
	Author    string    `json:"author"` // customer, agent or note
	Body      string    `json:"body"`
	CreatedAt time.Time `json:"created_at"`
	// IdempotencyKey is the key that the reply was sent with; "" if there was none or Kitebase keeps none.
	IdempotencyKey string `json:"idempotency_key,omitempty"`
}

// Ticket is a ticket with its conversation, oldest message first.
type Ticket struct {
	ID        string    `json:"id"`
	Title     string    `json:"title"`
	Status    string    `json:"status"`
	Priority  string    `json:"priority"`
	Customer  Customer  `json:"customer"`
	Assignee  string    `json:"assignee"` // "" = nobody
	Version   int       `json:"version"`  // rises with each change
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	Messages  []Message `json:"messages"`
}

// TicketSummary is a ticket without its conversation.
type TicketSummary struct {
	ID        string    `json:"id"`
	Title     string    `json:"title"`
	Status    string    `json:"status"`
	Priority  string    `json:"priority"`
	Customer  Customer  `json:"customer"`
	Assignee  string    `json:"assignee"` // "" = nobody
	Version   int       `json:"version"`  // rises with each change
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// TicketQuery says which tickets to find. The zero value leaves everything to Kitebase.
type TicketQuery struct {
	Query  string // words; "" = any
	Status string // "" = any
	Cursor string // TicketPage.NextCursor of the page before; "" = the first page
	Limit  int    // hits on a page; 0 = as Kitebase likes
}

// TicketPage is one page of hits.
type TicketPage struct {
	Tickets    []TicketSummary `json:"tickets"` // never nil in a success
	Total      int             `json:"total"`   // hits on all pages
	NextCursor string          `json:"next_cursor"`
}

// Reply is a message to the customer of a ticket.
type Reply struct {
	TicketID string
	Message  string
	Key      string // sent as Idempotency-Key; "" = none
}

// Receipt is Kitebase's word that a reply went out.
type Receipt struct {
	ReplyID   string    `json:"reply_id"`
	SentTo    string    `json:"sent_to"`
	CreatedAt time.Time `json:"created_at"`
	// Replayed is true if the reply had gone out before, with the same key, and this call sent nothing.
	Replayed bool `json:"-"`
}

// articlePage is the answer to a search for help.
type articlePage struct {
	Articles []Article `json:"articles"`
}
