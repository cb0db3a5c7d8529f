package fakeapi

import (
	"embed"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"
)

//go:embed seeds/*.json
var seedFiles embed.FS

// seedData is what every fake begins with. It is shared and never changed.
type seedData struct {
	agents   map[string]bool
	articles []article
	tickets  []seedTicket
	newest   time.Time
	search   *searchIndex
}

// seedTicket is a ticket as seeds/tickets.json has it: what follows from something else is left out.
type seedTicket struct {
	ID        string        `json:"id"`
	Title     string        `json:"title"`
	Status    string        `json:"status"`
	Priority  string        `json:"priority"`
	Customer  string        `json:"customer"` // its email stands in seeds/customers.json
	Assignee  *string       `json:"assignee"`
	CreatedAt time.Time     `json:"created_at"`
	Messages  []seedMessage `json:"messages"`

	email string
}

type seedMessage struct {
	Author string    `json:"author"`
	At     time.Time `json:"at"`
	Body   string    `json:"body"`
}

// searchText is what a search looks through beside id and title.
func (t seedTicket) searchText() string {
	texts := []string{t.Customer}
	for _, m := range t.Messages {
		texts = append(texts, m.Body)
	}
	return strings.Join(texts, "\n")
}

// loadSeeds reads the embedded files once per process.
var loadSeeds = sync.OnceValues(func() (*seedData, error) {
	var agents []string
	var customers map[string]string
	s := &seedData{agents: make(map[string]bool)}
	for name, into := range map[string]any{
		"agents": &agents, "customers": &customers, "articles": &s.articles, "tickets": &s.tickets,
	} {
		data, err := seedFiles.ReadFile("seeds/" + name + ".json")
		if err == nil {
			err = json.Unmarshal(data, into)
		}
		if err != nil {
			return nil, fmt.Errorf("fakeapi: reading the seed data %s: %w", name, err)
		}
	}
	for _, name := range agents {
		s.agents[name] = true
	}
	for i := range s.tickets {
		t := &s.tickets[i]
		t.email = customers[t.Customer]
		if last := t.Messages[len(t.Messages)-1].At; last.After(s.newest) {
			s.newest = last
		}
	}
	s.search = newSearchIndex(s)
	return s, nil
})

// freshTickets makes the tickets of a new fake. Seed data lies in the past even when the clock stands before it, as in
// a synctest bubble, which begins in the year 2000: then all of it moves back by the same number of whole days.
func (s *seedData) freshTickets() map[string]*ticket {
	const day = 24 * time.Hour
	var back time.Duration
	if ahead := time.Until(s.newest); ahead >= 0 {
		back = ahead.Truncate(day) + day
	}
	all := make(map[string]*ticket, len(s.tickets))
	for _, seed := range s.tickets {
		all[seed.ID] = seed.fresh(back)
	}
	return all
}

func (t seedTicket) fresh(back time.Duration) *ticket {
	fresh := &ticket{
		summary: summary{
			ID: t.ID, Title: t.Title, Status: t.Status, Priority: t.Priority,
			Customer:  customer{Name: t.Customer, Email: t.email},
			Assignee:  t.Assignee,
			Version:   len(t.Messages),
			CreatedAt: t.CreatedAt.Add(-back),
		},
		seeded: len(t.Messages),
	}
	for i, m := range t.Messages {
		prefix := "msg"
		if m.Author == "agent" {
			prefix = "rpl"
		}
		at := m.At.Add(-back)
		fresh.Messages = append(fresh.Messages, message{
			ID: messageID(prefix, t.ID, i+1), Author: m.Author, Body: m.Body, CreatedAt: at,
		})
		fresh.UpdatedAt = at
	}
	return fresh
}
