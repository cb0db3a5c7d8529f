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

	"github.com/kitebase/kitebase-mcp/server/resilience"
	"github.com/kitebase/kitebase-mcp/tools"
)

const (
	keptAnswers  = 100
	keptArticles = 500
	bestArticles = 5 // of a search among those seen before
)

// articles are the help articles seen so far, for the time when search_help does not answer. It is safe for concurrent use.
type articles struct {
	maxAge time.Duration

	mu      sync.Mutex
	answers *lru.Cache[string, *keptAnswer] // by query
	seen    *lru.Cache[string, keptArticle] // by id
}

func newArticles(maxAge time.Duration) *articles {
	return &articles{
		maxAge: maxAge, answers: newLRU[string, *keptAnswer](keptAnswers, nil), seen: newLRU[string, keptArticle](keptArticles, nil),
	}
}

// keptAnswer is an answer of search_help. Its articles are looked at when they are needed, so that a search does not pay
// for them while Kitebase answers.
type keptAnswer struct {
	resilience.Copy
	read  bool
	empty bool
}

type keptArticle struct {
	tools.HelpArticle
	title, text map[string]bool // their words
	at          time.Time
}

// ofArticles is the fallback of search_help: the last answer to the same query, else the best of the articles seen so far.
func (a *articles) ofArticles() *resilience.FallbackConfig {
	return &resilience.FallbackConfig{
		Keep: func(_ context.Context, request mcp.CallToolRequest, good resilience.Answer) {
			query, err := tools.HelpQuery(request)
			if err != nil {
				return
			}
			a.mu.Lock()
			defer a.mu.Unlock()
			a.answers.Add(strings.ToLower(query), &keptAnswer{Copy: resilience.Copy{
				Result: good.Result, AsOf: time.Now(), ServedBy: "copy",
			}})
		},
		Find: func(_ context.Context, request mcp.CallToolRequest) (resilience.Copy, bool) {
			query, err := tools.HelpQuery(request)
			if err != nil {
				return resilience.Copy{}, false
			}
			a.mu.Lock()
			defer a.mu.Unlock()
			a.readAnswers()
			if same, ok := a.answers.Get(strings.ToLower(query)); ok && !same.empty && time.Since(same.AsOf) <= a.maxAge {
				return same.Copy, true
			}
			found, oldest := a.search(query)
			if len(found) == 0 {
				return resilience.Copy{}, false
			}
			return resilience.Copy{Result: tools.HelpResult(found, query), AsOf: oldest, ServedBy: "copy"}, true
		},
	}
}

// readAnswers takes the articles out of the answers, the older ones first. The caller holds the lock.
func (a *articles) readAnswers() {
	for _, answer := range a.answers.Values() {
		if answer.read {
			continue
		}
		found := tools.HelpArticles(answer.Result)
		answer.read, answer.empty = true, len(found) == 0
		for _, article := range found {
			a.seen.Add(article.ID, keptArticle{article, words(article.Title), words(article.Text), answer.AsOf})
		}
	}
}

// search returns the best articles for query, and of when the oldest of them is. The caller holds the lock.
func (a *articles) search(query string) (best []tools.HelpArticle, oldest time.Time) {
	type hit struct {
		keptArticle
		score int
	}
	var hits []hit
	asked := words(query)
	for _, article := range a.seen.Values() {
		if score := article.score(asked); score > 0 && time.Since(article.at) <= a.maxAge {
			hits = append(hits, hit{article, score})
		}
	}
	slices.SortFunc(hits, func(x, y hit) int {
		return cmp.Or(y.score-x.score, strings.Compare(x.ID, y.ID))
	})
	for _, h := range hits[:min(len(hits), bestArticles)] {
		best = append(best, h.HelpArticle)
		if oldest.IsZero() || h.at.Before(oldest) {
			oldest = h.at
		}
	}
	return best, oldest
}

// score counts the words of the query that the article holds, those in the title thrice. A word of fewer than three letters
// tells nothing.
func (k keptArticle) score(query map[string]bool) int {
	score := 0
	for word := range query {
		switch {
		case len(word) < 3:
		case k.title[word]:
			score += 3
		case k.text[word]:
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
