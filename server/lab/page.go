package lab

import (
	_ "embed" // the template
	"html/template"
	"io"
	"slices"
	"strconv"
	"strings"
)

//go:embed page.tmpl
var pageText string

// pageView is what the template is given.
type pageView struct {
	*Report
	Tiles  []tile
	Groups []group
	Rules  []Rule
}

type tile struct {
	Name  string
	Count int
}

// group are the cases whose names begin alike.
type group struct {
	Name  string
	Card  Card
	Cases []caseView
}

type caseView struct {
	Result
	Picture timeline
	Story   []moment
}

// moment is one line of the story of a case.
type moment struct {
	AtMS              float64
	Who, Class, Label string
	Says, Text        string
}

// WriteHTML writes the report as a page that needs nothing else: no script, no font, no picture from anywhere. It fits a phone,
// follows the reader's choice of dark or light, and tells everything that the pictures show in words as well.
func (r *Report) WriteHTML(w io.Writer) error {
	page, err := template.New("page").Funcs(template.FuncMap{
		"span": span, "words": Kind.words, "join": func(words []string) string { return strings.Join(words, " ") },
		"add": func(a, b float64) float64 { return a + b },
	}).Parse(pageText)
	if err != nil {
		return err
	}
	view := pageView{Report: r, Rules: Rules(), Tiles: []tile{
		{"duplicates", r.Card.Duplicates}, {`false “sent”`, r.Card.FalseSent}, {`false “failed”`, r.Card.FalseFailed},
		{"unreadable errors", r.Card.Unreadable}, {"unanswered calls", r.Card.Unanswered}, {"cases with stray output", r.Card.StrayOutput},
	}}
	for _, result := range r.Cases {
		name, _, _ := strings.Cut(result.Name, "/")
		i := slices.IndexFunc(view.Groups, func(g group) bool { return g.Name == name })
		if i < 0 {
			i, view.Groups = len(view.Groups), append(view.Groups, group{Name: name})
		}
		view.Groups[i].Cases = append(view.Groups[i].Cases, caseView{result, newTimeline(result), story(result)})
	}
	for i, g := range view.Groups {
		var results []Result
		for _, each := range g.Cases {
			results = append(results, each.Result)
		}
		view.Groups[i].Card = cardOf(results)
	}
	var text strings.Builder
	if err := page.Execute(&text, view); err != nil {
		return err
	}
	_, err = io.WriteString(w, visible(text.String()))
	return err
}

// story returns everything that happened, in order.
func story(r Result) []moment {
	var all []moment
	for i, event := range r.Events {
		all = append(all, moment{event.AtMS, "lab", "lab", letter(i), event.Says, ""})
	}
	for _, call := range r.Calls {
		all = append(all, moment{call.AtMS, "model", "model", "", call.asks(), ""})
		if call.Answer == AnswerNone {
			says := call.told()
			if call.Excused != "" {
				says += ", and needs none: " + call.Excused
			}
			all = append(all, moment{call.AtMS + call.TookMS, "model", call.class(r), "", says, ""})
			continue
		}
		all = append(all, moment{call.AtMS + call.TookMS, "server", call.class(r), "", call.told(), call.Text})
	}
	for _, request := range r.Requests {
		all = append(all, moment{request.AtMS, "Kitebase", request.class(), "", request.told(), ""})
	}
	for _, email := range r.Emails {
		m := moment{email.AtMS, "customer", "email", "", email.told(), email.Body}
		if email.TooMany {
			m.Class = "bad"
		}
		all = append(all, m)
	}
	slices.SortStableFunc(all, func(a, b moment) int {
		switch {
		case a.AtMS < b.AtMS:
			return -1
		case a.AtMS > b.AtMS:
			return 1
		}
		return 0
	})
	return all
}

// asks says what a call asked for.
func (c Call) asks() string {
	return strings.Join([]string{c.Tool, shortened(string(c.Arguments), 300)}, " ") + " (call " + strconv.Itoa(c.Number) + ")"
}
