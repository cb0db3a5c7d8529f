package server

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/kitebase/kitebase-mcp/server/resilience"
	"github.com/kitebase/kitebase-mcp/tools"
	"github.com/kitebase/kitebase-mcp/tools/kitebase"
)

// How much is remembered for the time when Kitebase does not answer, in tickets and in articles.
const (
	keptTickets  = 200
	keptArticles = 500
	bestArticles = 5
)

// copies are good answers of before, for the time when Kitebase does not answer. A ticket that was written to, or may have
// been, has no copy: it would show what is no longer so. It is safe for concurrent use.
type copies struct {
	maxAge time.Duration

	mu       sync.Mutex
	tickets  *lru.Cache[string, resilience.Copy]
	articles *lru.Cache[string, keptArticle]
	written  *lru.Cache[string, time.Time] // when a ticket was last written to
	shown    *lru.Cache[string, time.Time] // of when the copy is that was last shown in place of a ticket
}

type keptArticle struct {
	kitebase.Article
	at time.Time
}

func newCopies(maxAge time.Duration) *copies {
	return &copies{
		maxAge: maxAge, tickets: newLRU[resilience.Copy](keptTickets), articles: newLRU[keptArticle](keptArticles),
		written: newLRU[time.Time](keptTickets), shown: newLRU[time.Time](keptTickets),
	}
}

func newLRU[V any](size int) *lru.Cache[string, V] {
	cache, err := lru.New[string, V](size)
	if err != nil {
		panic(err) // only for a size below 1
	}
	return cache
}

// ofTickets is the fallback of get_ticket.
func (c *copies) ofTickets() *resilience.FallbackConfig {
	return &resilience.FallbackConfig{
		Keep: func(request mcp.CallToolRequest, result *mcp.CallToolResult, began time.Time) {
			id, err := tools.TicketID(request)
			if err != nil {
				return
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			c.shown.Remove(id)
			if written, ok := c.written.Get(id); !ok || began.After(written) {
				c.tickets.Add(id, resilience.Copy{Result: result, AsOf: time.Now(), ServedBy: "copy"})
			}
		},
		Find: func(request mcp.CallToolRequest) (resilience.Copy, bool) {
			id, err := tools.TicketID(request)
			if err != nil {
				return resilience.Copy{}, false
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			found, ok := c.tickets.Get(id)
			if !ok || time.Since(found.AsOf) > c.maxAge {
				return resilience.Copy{}, false
			}
			c.shown.Add(id, found.AsOf)
			return found, true
		},
	}
}

// ofArticles is the fallback of search_help: the articles seen so far, ranked by how many words of the query they hold.
func (c *copies) ofArticles() *resilience.FallbackConfig {
	return &resilience.FallbackConfig{
		Keep: func(_ mcp.CallToolRequest, result *mcp.CallToolResult, _ time.Time) {
			c.mu.Lock()
			defer c.mu.Unlock()
			for _, article := range tools.HelpArticles(result) {
				c.articles.Add(article.ID, keptArticle{article, time.Now()})
			}
		},
		Find: func(request mcp.CallToolRequest) (resilience.Copy, bool) {
			query, err := tools.HelpQuery(request)
			if err != nil {
				return resilience.Copy{}, false
			}
			found, oldest := c.search(query)
			if len(found) == 0 {
				return resilience.Copy{}, false
			}
			return resilience.Copy{Result: tools.HelpResult(found, query), AsOf: oldest, ServedBy: "copy"}, true
		},
	}
}

// search returns the best articles for query, and of when the oldest of them is.
func (c *copies) search(query string) (best []kitebase.Article, oldest time.Time) {
	c.mu.Lock()
	all := c.articles.Values()
	c.mu.Unlock()
	type hit struct {
		keptArticle
		score int
	}
	var hits []hit
	for _, article := range all {
		if score := score(article.Article, query); score > 0 && time.Since(article.at) <= c.maxAge {
			hits = append(hits, hit{article, score})
		}
	}
	slices.SortFunc(hits, func(a, b hit) int {
		return cmp.Or(b.score-a.score, strings.Compare(a.ID, b.ID))
	})
	for _, h := range hits[:min(len(hits), bestArticles)] {
		best = append(best, h.Article)
		if oldest.IsZero() || h.at.Before(oldest) {
			oldest = h.at
		}
	}
	return best, oldest
}

// score counts the words of query that the article holds, those in the title thrice. A word of fewer than three letters
// tells nothing.
func score(article kitebase.Article, query string) int {
	title, text := words(article.Title), words(article.Text)
	score := 0
	for word := range words(query) {
		if len(word) < 3 {
			continue
		}
		if title[word] {
			score += 3
		} else if text[word] {
			score++
		}
	}
	return score
}

func words(text string) map[string]bool {
	set := make(map[string]bool)
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		set[word] = true
	}
	return set
}

// writing wraps the handler of a tool that changes a ticket: from its start on there is no copy of the ticket, and none is
// kept that was read before its end.
func (c *copies) writing(ticketOf func(mcp.CallToolRequest) string, next mcpserver.ToolHandlerFunc) mcpserver.ToolHandlerFunc {
	forget := func(id string) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.written.Add(id, time.Now())
		c.tickets.Remove(id)
	}
	return func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		id := ticketOf(request)
		forget(id)
		defer forget(id)
		return next(ctx, request)
	}
}

// reminding wraps the guarded reply tool: a reply to a ticket that was last seen as a copy says so.
func (c *copies) reminding(next mcpserver.ToolHandlerFunc) mcpserver.ToolHandlerFunc {
	return func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		id := replyTicket(request)
		c.mu.Lock()
		asOf, stale := c.shown.Get(id)
		c.mu.Unlock()
		result, err := next(ctx, request)
		if err == nil && stale && !result.IsError {
			resilience.Annotate(result, "This reply was written from a copy of the ticket from "+asOf.UTC().Format("15:04")+
				" UTC: read the ticket again when Kitebase answers.")
		}
		return result, err
	}
}
