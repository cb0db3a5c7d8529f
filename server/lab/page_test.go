package lab_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/kitebase/kitebase-mcp/server/lab"
)

func page(t *testing.T, report *lab.Report) string {
	t.Helper()
	var text bytes.Buffer
	require.NoError(t, report.WriteHTML(&text))
	return text.String()
}

// TestPageIsSelfContained: nothing is loaded from anywhere, nothing runs, and no text becomes markup.
func TestPageIsSelfContained(t *testing.T) {
	t.Parallel()
	text := page(t, sample())
	ids, links := map[string]bool{}, []string{}
	eachTag(t, text, func(tag html.Token) {
		require.NotContains(t, []string{"script", "link", "img", "iframe", "object", "embed", "base", "use", "image", "foreignObject", "form"}, tag.Data)
		for _, attribute := range tag.Attr {
			require.False(t, strings.HasPrefix(attribute.Key, "on"), attribute.Key)
			switch attribute.Key {
			case "href":
				require.True(t, strings.HasPrefix(attribute.Val, "#"), attribute.Val)
				links = append(links, attribute.Val[1:])
			case "src", "srcset", "xlink:href", "style", "background":
				require.Fail(t, "an attribute that may load something", attribute.Key)
			case "id":
				require.False(t, ids[attribute.Val], "twice: "+attribute.Val)
				ids[attribute.Val] = true
			}
		}
	})
	for _, link := range links {
		require.True(t, ids[link], link)
	}
	for _, loads := range []string{"url(", "@import", "@font-face"} {
		require.NotContains(t, text, loads)
	}
	require.Contains(t, text, "&lt;script&gt;alert(")
	require.Contains(t, text, "prefers-color-scheme: dark")
	require.Contains(t, text, `name="viewport"`)
}

// eachTag goes through the tags, which must be closed in the order in which they were opened.
func eachTag(t *testing.T, text string, do func(html.Token)) {
	t.Helper()
	void := map[string]bool{"meta": true, "br": true}
	var open []string
	tokens := html.NewTokenizer(strings.NewReader(text))
	for {
		switch tokens.Next() {
		case html.ErrorToken:
			require.Empty(t, open)
			return
		case html.StartTagToken:
			tag := tokens.Token()
			do(tag)
			if !void[tag.Data] {
				open = append(open, tag.Data)
			}
		case html.SelfClosingTagToken:
			do(tokens.Token())
		case html.EndTagToken:
			tag := tokens.Token()
			require.NotEmpty(t, open, tag.Data)
			require.Equal(t, open[len(open)-1], tag.Data)
			open = open[:len(open)-1]
		}
	}
}

// TestPageTellsEverything: each case, each picture with its alternative in words, each finding and each rule.
func TestPageTellsEverything(t *testing.T) {
	t.Parallel()
	report := sample()
	text := page(t, report)
	root, err := html.Parse(strings.NewReader(text))
	require.NoError(t, err)
	words := strings.Join(strings.Fields(textOf(root)), " ")
	for _, rule := range lab.Rules() {
		require.Contains(t, words, rule.Says)
	}
	for _, result := range report.Cases {
		require.Contains(t, words, result.Breaks)
		for _, finding := range result.Findings {
			require.Contains(t, words, finding.Says)
		}
	}
	require.Equal(t, 2, strings.Count(text, `<svg viewBox="0 0 1000 `), "a case that was skipped has no picture")
	require.Equal(t, 2, strings.Count(text, `role="img" aria-label="Timeline of `))
	for _, told := range []string{
		"A Kitebase goes wrong: reply_to_customer lose",
		"reply_to_customer {\"message\":\"Hello\",\"ticket_id\":\"KITE-142\"} (call 1)",
		"reply_to_customer was not answered (fault: lose)", "the customer of KITE-142 got an email too many",
		"after 5s an error, which claims \"failed\"", "needs none: the host cancelled it", "the server ended by itself: exit status 9",
		"get_ticket with a key was answered 200", "It was not run: the server has no tool reply_to_customer.",
	} {
		require.Contains(t, words, told)
	}
	require.Equal(t, 3, strings.Count(text, `<path class="email`), "one sign for each email")
	require.Equal(t, 2, strings.Count(text, `<path class="email bad"`))
}

func textOf(n *html.Node) string {
	if n.Type == html.TextNode {
		return n.Data
	}
	var text strings.Builder
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		text.WriteString(textOf(child) + " ")
	}
	return text.String()
}

// TestPageOfARun: the page of a real run, with all that it holds.
func TestPageOfARun(t *testing.T) {
	t.Parallel()
	report := run(t, config(t, []string{"rush/*", "end/killed-lost", "host/together"}, "-answer="+failure("<h1>It failed</h1>")))
	require.NotZero(t, report.Card.Findings())
	text := page(t, report)
	eachTag(t, text, func(html.Token) {})
	for _, result := range report.Cases {
		require.Contains(t, text, fmt.Sprintf(`<details id=%q open>`, result.Name))
		require.Contains(t, text, fmt.Sprintf("%d calls, %d requests, %d emails", len(result.Calls), len(result.Requests), len(result.Emails)))
	}
}
