package tools

import (
	"context"
	"encoding/json"
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
	return HelpResult(found, in["query"]), nil
}

// HelpQuery returns the query of a search_help call, or the error that its handler would answer with.
func HelpQuery(request mcp.CallToolRequest) (string, error) {
	in, err := bind(request, []Argument{helpQueryArgument()})
	return in["query"], err
}

// HelpArticles returns the articles in the result of a search_help call.
func HelpArticles(result *mcp.CallToolResult) []kitebase.Article {
	var hits helpHits
	_ = json.Unmarshal(result.RawStructuredContent, &hits) // what cannot be read holds none
	var all []kitebase.Article
	for _, a := range hits.Articles {
		all = append(all, kitebase.Article{ID: a.ID, Title: a.Title, Text: a.Text})
	}
	return all
}

// HelpResult words articles as search_help words those that it found for query.
func HelpResult(found []kitebase.Article, query string) *mcp.CallToolResult {
	return success(wordArticles(found, query))
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
