package kitebase

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// errOther is wrapped by checks of answers that are about something else than what was asked for.
var errOther = errors.New("not what was asked for")

func (p articlePage) check() error {
	if p.Articles == nil {
		return missing("articles")
	}
	for _, article := range p.Articles {
		if err := need("id", article.ID, "title", article.Title, "text", article.Text); err != nil {
			return fmt.Errorf("an article: %w", err)
		}
	}
	return nil
}

func (t Ticket) check(id string) error {
	if err := t.summary().check(); err != nil {
		return err
	}
	if t.ID != id {
		return fmt.Errorf("id: %w", errOther)
	}
	if t.Messages == nil {
		return missing("messages")
	}
	for _, message := range t.Messages {
		if err := need("id", message.ID, "author", message.Author); err != nil {
			return fmt.Errorf("a message: %w", err)
		}
		if message.CreatedAt.IsZero() {
			return fmt.Errorf("a message: %w", missing("created_at"))
		}
	}
	return nil
}

func (t Ticket) summary() TicketSummary {
	return TicketSummary{
		ID: t.ID, Title: t.Title, Status: t.Status, Priority: t.Priority, Customer: t.Customer,
		Assignee: t.Assignee, Version: t.Version, CreatedAt: t.CreatedAt, UpdatedAt: t.UpdatedAt,
	}
}

func (t TicketSummary) check() error {
	if err := need("id", t.ID, "title", t.Title, "status", t.Status, "priority", t.Priority,
		"customer.name", t.Customer.Name); err != nil {
		return err
	}
	return needTimes(t.CreatedAt, t.UpdatedAt)
}

// checkAssigned compares the assignee without regard to case, since Kitebase may spell a login its own way.
func (t TicketSummary) checkAssigned(id, assignee string) error {
	switch err := t.check(); {
	case err != nil:
		return err
	case t.ID != id:
		return fmt.Errorf("id: %w", errOther)
	case !strings.EqualFold(t.Assignee, assignee):
		return fmt.Errorf("assignee: %w", errOther)
	}
	return nil
}

func (p TicketPage) check() error {
	if p.Tickets == nil {
		return missing("tickets")
	}
	if p.Total < len(p.Tickets) {
		return errors.New("total is smaller than the page")
	}
	for _, ticket := range p.Tickets {
		if err := ticket.check(); err != nil {
			return fmt.Errorf("a ticket: %w", err)
		}
	}
	return nil
}

func (r Receipt) check() error {
	if err := need("reply_id", r.ReplyID, "sent_to", r.SentTo); err != nil {
		return err
	}
	if r.CreatedAt.IsZero() {
		return missing("created_at")
	}
	return nil
}

// need takes names and values and reports the first value that is empty.
func need(pairs ...string) error {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			return missing(pairs[i])
		}
	}
	return nil
}

func needTimes(created, updated time.Time) error {
	if created.IsZero() {
		return missing("created_at")
	}
	if updated.IsZero() {
		return missing("updated_at")
	}
	return nil
}

func missing(field string) error { return errors.New(field + " is missing") }
