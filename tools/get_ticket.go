package tools

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/kitebase/kitebase-mcp/tools/kitebase"
)

// maxBody is the room for the text of one message.
const maxBody = 4 << 10

type ticket struct {
	summary
	DataNote string    `json:"data_note" about:"How to read what people wrote."`
	Messages []message `json:"messages" about:"Newest last."`
	notes
}

type message struct {
	ID        string    `json:"id" about:"Of a reply: its reply_id."`
	Author    string    `json:"author" about:"customer, agent or note."`
	CreatedAt time.Time `json:"created_at"`
	Body      string    `json:"body"`
	Cleaned   bool      `json:"cleaned,omitempty" about:"True if invisible or control characters were removed from it."`
}

// TicketID returns the ticket of a get_ticket call whose arguments its handler took; of another one it may say anything. It
// costs less than to check them all again.
func TicketID(request mcp.CallToolRequest) (string, error) {
	text, _ := request.GetArguments()[ticketIDArgument().Name].(string)
	return checkTicketID(text)
}

func (h handlers) getTicket(ctx context.Context, in values) (*mcp.CallToolResult, error) {
	found, err := h.client.GetTicket(ctx, in["ticket_id"])
	if err != nil {
		return nil, wordTicketError(err, in["ticket_id"])
	}
	return success(wordTicket(found)), nil
}

// wordTicket keeps the newest messages: they say where the conversation stands.
func wordTicket(t kitebase.Ticket) ticket {
	worded := ticket{summary: summarize(summaryOf(t)), DataNote: data, Messages: []message{}}
	newestFirst := make([]message, 0, len(t.Messages))
	cutBodies := 0
	for _, m := range slices.Backward(t.Messages) {
		var read reader
		body, wasCut := read.cut(m.Body, maxBody)
		shown := message{ID: read.short(m.ID), Author: read.short(m.Author), CreatedAt: m.CreatedAt, Body: body}
		shown.Cleaned = read.cleaned
		newestFirst = append(newestFirst, shown)
		if wasCut {
			cutBodies++
		}
	}
	shown := len(newestFirst)
	if mostJSON(newestFirst) > maxObject-maxSummary { // else there is nothing to measure
		shown = fit(newestFirst, maxObject-len(encode(worded)))
	}
	worded.Messages = newestFirst[:shown]
	slices.Reverse(worded.Messages)
	if older := len(t.Messages) - shown; older > 0 {
		worded.shorten(fmt.Sprintf("Only the newest %d of %d messages are shown. Left out: %s.",
			shown, len(t.Messages), counted(older, "older message")))
	}
	if cutBodies > 0 {
		worded.shorten("Long messages are cut where marked; a person can read them in Kitebase.")
	}
	worded.clean(worded.cleaned || slices.ContainsFunc(worded.Messages, func(m message) bool { return m.Cleaned }))
	return worded
}

// maxSummary bounds the JSON of a ticket without its messages, in bytes: its texts are at most [maxField] each.
const maxSummary = 4 << 10

// mostJSON returns how many bytes the JSON of messages can have at the most: six for a byte of text (an escape), and what
// stands around the texts of each.
func mostJSON(messages []message) int {
	const around = 160
	size := 0
	for _, m := range messages {
		size += around + 6*(len(m.ID)+len(m.Author)+len(m.Body))
	}
	return size
}

func summaryOf(t kitebase.Ticket) kitebase.TicketSummary {
	return kitebase.TicketSummary{
		ID:        t.ID,
		Title:     t.Title,
		Status:    t.Status,
		Priority:  t.Priority,
		Customer:  t.Customer,
		Assignee:  t.Assignee,
		Version:   t.Version,
		CreatedAt: t.CreatedAt,
		UpdatedAt: t.UpdatedAt,
	}
}
