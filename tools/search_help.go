package tools

import (
	"context"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/kitebase/kitebase-mcp/tools/kitebase"
)

// maxArticle is the room for the text of one article. Few whole articles help more than many cut ones.
const maxArticle = 6 << 10

type helpHits struct {
	Articles []article `json:"articles" about:"Best first."`
	notes
}

type article struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Text  string `json:"text"`
}

func (h handlers) searchHelp(ctx context.Context, in values) (*mcp.CallToolResult, error) {
	found, err := h.client.SearchHelp(ctx, in["query"], maxHits+1) // one more, to know whether there are more
	if err != nil {
		return nil, err
	}
	return success(wordArticles(found, in["query"])), nil
}

func wordArticles(found []kitebase.Article, query string) helpHits {
	hits := helpHits{Articles: make([]article, 0, len(found))}
	if len(found) == 0 {
		hits.Note = fmt.Sprintf("No help article matches %s. Try other or fewer words.", quoted(query))
		return hits
	}
	cutTexts := 0
	for _, a := range found[:min(len(found), maxHits)] {
		text, wasCut := cut(a.Text, maxArticle)
		if wasCut {
			cutTexts++
		}
		hits.Articles = append(hits.Articles, article{short(a.ID), short(a.Title), text})
	}
	shown := fit(hits.Articles, maxObject)
	hits.Articles = hits.Articles[:shown]
	if shown < len(found) {
		hits.shorten(fmt.Sprintf("Shown: the best %d of at least %d articles. Narrow the search to see others.",
			shown, len(found)))
	}
	if cutTexts > 0 {
		hits.shorten("Long articles are cut where marked.")
	}
	return hits
}
