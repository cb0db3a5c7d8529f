package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/kitebase/kitebase-mcp/tools/kitebase"
)

// maxArticle is the room for the text of one article. Few whole articles help more than many cut ones.
const maxArticle = 6 << 10

type helpHits struct {
	Articles []article `json:"articles" about:"Best first."`
	DataNote string    `json:"data_note,omitempty" about:"How to read what people wrote."`
	notes
}

type article struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Text  string `json:"text"`

	Cleaned bool `json:"cleaned,omitempty" about:"True if invisible or control characters were removed from it."`
}

func (h handlers) searchHelp(ctx context.Context, in values) (*mcp.CallToolResult, error) {
	found, err := h.client.SearchHelp(ctx, in["query"], maxHits+1) // one more, to know whether there are more
	if err != nil {
		return nil, err
	}
	read := make([]HelpArticle, len(found))
	for i, a := range found {
		read[i].Article = a
	}
	return HelpResult(read, in["query"]), nil
}

// HelpQuery returns the query of a search_help call, or the error that its handler would answer with.
func HelpQuery(request mcp.CallToolRequest) (string, error) {
	in, err := bind(request, []Argument{helpQueryArgument()})
	return in["query"], err
}

// HelpArticle is an article as a result shows it.
type HelpArticle struct {
	kitebase.Article
	// Cleaned says that something was removed from its text, because nobody could see it.
	Cleaned bool
}

// HelpArticles returns the articles in the result of a search_help call.
func HelpArticles(result *mcp.CallToolResult) []HelpArticle {
	var hits helpHits
	_ = json.Unmarshal(result.RawStructuredContent, &hits) // what cannot be read holds none
	var all []HelpArticle
	for _, a := range hits.Articles {
		all = append(all, HelpArticle{kitebase.Article{ID: a.ID, Title: a.Title, Text: a.Text}, a.Cleaned})
	}
	return all
}

// HelpResult words articles as search_help words those that it found for query.
func HelpResult(found []HelpArticle, query string) *mcp.CallToolResult {
	return success(wordArticles(found, query))
}

func wordArticles(found []HelpArticle, query string) helpHits {
	hits := helpHits{Articles: make([]article, 0, len(found))}
	if len(found) == 0 {
		hits.Note = fmt.Sprintf("No help article matches %s. Try other or fewer words.", quoted(query))
		return hits
	}
	hits.DataNote = data
	cutTexts := 0
	for _, a := range found[:min(len(found), maxHits)] {
		var read reader
		text, wasCut := read.cut(a.Text, maxArticle)
		if wasCut {
			cutTexts++
		}
		worded := article{ID: read.short(a.ID), Title: read.short(a.Title), Text: text}
		worded.Cleaned = a.Cleaned || read.cleaned
		hits.Articles = append(hits.Articles, worded)
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
	hits.clean(slices.ContainsFunc(hits.Articles, func(a article) bool { return a.Cleaned }))
	return hits
}
