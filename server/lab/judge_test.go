package lab_test

import (
	"cmp"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server/lab"
)

// failure returns the result member of an answer with isError.
func failure(says string) string {
	return `"result":{"isError":true,"content":[{"type":"text","text":"` + says + `"}]}`
}

// outcome returns one that also tells programs.
func outcome(word string) string {
	return `"result":{"isError":true,"content":[{"type":"text","text":"Something went wrong."}],"_meta":{"io.kitebase/error":{"outcome":"` + word + `"}}}`
}

// untold returns a result without isError that tells programs what its text may not say.
func untold(says, word string) string {
	return `"result":{"content":[{"type":"text","text":"` + says + `"}],"_meta":{"io.kitebase/error":{"outcome":"` + word + `"}}}`
}

// TestJudged holds each rule of judging to a server that does one thing and says one thing.
func TestJudged(t *testing.T) {
	t.Parallel()
	const sent, two, marked = "Sent.", 2, `"result":{"content":[],"structuredContent":{"already_sent":true}}`
	judged(t, map[string]trial{
		"sent":                        {sends: 1, answer: text(sent)},
		"sent, but it was not":        {sends: 0, answer: text(sent), want: "false_sent"},
		"sent twice":                  {sends: two, answer: text(sent), want: "duplicate"},
		"sent four times":             {sends: 4, answer: text(sent), want: "duplicate x3"},
		"failed":                      {sends: 0, answer: failure("It failed.")},
		"failed, but it was sent":     {sends: 1, answer: failure("It failed."), want: "false_failed"},
		"may have failed":             {sends: 1, answer: failure("No answer. The reply may have been sent.")},
		"may have failed, and did":    {sends: 0, answer: failure("No answer. Check before you repeat it.")},
		"an unknown error":            {sends: 1, answer: failure("An unknown error."), want: "false_failed"},
		"refused as already sent":     {sends: 1, answer: failure("Not sent again: it was already sent.")},
		"not before, says a plain no": {sends: 0, answer: failure("Kitebase refused it, and nothing was sent before that. It cannot cause a duplicate.")},
		"honest in its own words":     {sends: 1, answer: failure("It is not known if the reply was sent.")},
		"a plain no, but it was sent": {sends: 1, answer: failure("It was not sent."), want: "false_failed"},
		"already, but never":          {sends: 0, answer: text("It was already sent."), want: "false_sent"},
		"outcome done":                {sends: 1, answer: outcome("done")},
		"outcome done, but not":       {sends: 0, answer: outcome("done"), want: "false_sent"},
		"outcome not done":            {sends: 0, answer: outcome("not_done")},
		"outcome not done, but was":   {sends: 1, answer: outcome("not_done"), want: "false_failed"},
		"outcome unknown":             {sends: 1, answer: outcome("unknown")},

		"no isError, not done":          {sends: 0, answer: untold("It failed.", "not_done")},
		"no isError, not done, but was": {sends: 1, answer: untold("It failed.", "not_done"), want: "false_failed"},
		"no isError, unknown":           {sends: 0, answer: untold("It failed.", "unknown")},
		"no isError, unknown, but was":  {sends: 1, answer: untold("It failed.", "unknown")},
		"no isError, done":              {sends: 1, answer: untold("Sent.", "done")},
		"no isError, done, but not":     {sends: 0, answer: untold("Sent.", "done"), want: "false_sent"},
		"no isError, repeated":          {story: "repeat/503", sends: 0, answer: untold("It failed.", "not_done")},

		"a wanted reply goes out":       {story: "customer/wrote", sends: 1, answer: text(sent)},
		"a wanted reply refused":        {story: "customer/wrote", sends: 0, answer: failure("It failed.")},
		"a wanted reply swallowed":      {story: "customer/wrote", sends: 1, most: 1, answer: text(sent), want: "false_sent"},
		"swallowed, but told":           {story: "customer/wrote", sends: 1, most: 1, answer: marked},
		"a wanted reply failed":         {story: "customer/wrote", sends: 1, most: 1, answer: failure("It failed."), want: "false_failed"},
		"failed, but Kitebase was slow": {story: "slow/12s", sends: 1, answer: failure("It failed."), want: "false_failed"},
		"the same again":                {story: "end/after", sends: 1, answer: text(sent), want: "duplicate"},
		"the same again at once":        {story: "host/twice", sends: 1, answer: text(sent), want: "duplicate"},
		"the same again, eight":         {story: "host/together", sends: 1, answer: text(sent), want: "duplicate x7"},
		"other words":                   {story: "repeat/reworded", sends: 1, answer: failure("It may have been sent."), want: "duplicate"},
		"other words, told":             {story: "repeat/reworded", sends: 1, answer: text(sent)},
		"an assignment that was not":    {story: "assign/500", answer: text("Assigned."), want: "false_sent"},
		"marked as sent before":         {story: "customer/wrote", sends: 0, answer: marked, want: "false_sent false_sent"},
	})
}

// TestReadable holds each rule of what a model can read.
func TestReadable(t *testing.T) {
	t.Parallel()
	judged(t, map[string]trial{
		"protocol error":       {answer: `"error":{"code":-32603,"message":"It failed."}`, want: "unreadable"},
		"protocol error, sent": {sends: 1, answer: `"error":{"code":-32603,"message":"It failed."}`, want: "unreadable false_failed"},
		"no result":            {answer: `"result":7`, want: "unreadable"},
		"null":                 {answer: `"result":null`, want: "unreadable"},
		"nothing at all":       {sends: 1, answer: `"result":{}`, want: "unreadable"},
		"nothing in it":        {sends: 1, answer: `"result":{"content":[]}`, want: "unreadable"},
		"only structure":       {sends: 1, answer: `"result":{"structuredContent":{"id":"rpl_001"}}`},
		"a picture":            {sends: 1, answer: `"result":{"content":[{"type":"image","data":"","mimeType":"image/png"}]}`},
		"the token, well":      {sends: 1, answer: text("Sent with {token}."), want: "unreadable"},
		"the token, inside":    {sends: 1, answer: `"result":{"content":[{"type":"text","text":"Sent."}],"_meta":{"request":{"auth":"{token}"}}}`, want: "unreadable"},
		"the token, in error":  {answer: `"result":{"isError":true,"content":[{"type":"text","text":"It failed."}],"structuredContent":{"auth":"{token}"}}`, want: "unreadable"},
		"a trace, well":        {sends: 1, answer: text(`Traceback (most recent call last):\n  File \"server.py\", line 3`), want: "unreadable"},
		"a Go trace, well":     {sends: 1, answer: text(`goroutine 7 [running]:\nmain.main()`), want: "unreadable"},
		"a file name, well":    {sends: 1, answer: text("The customer has panic: app.go:12 on the screen, and a &{link}.")},
		"no text":              {answer: `"result":{"isError":true,"content":[]}`, want: "unreadable"},
		"blank text":           {answer: failure(`  \n `), want: "unreadable"},
		"HTML":                 {answer: failure("<!doctype html><h1>Sorry</h1>"), want: "unreadable"},
		"HTML as a success":    {sends: 1, answer: text("<html><body>We'll be back"), want: "unreadable"},
		"a URL":                {answer: failure("GET {url}/v1 failed"), want: "unreadable"},
		"the token":            {answer: failure("Bearer {token} was refused"), want: "unreadable"},
		"a Go stack":           {answer: failure(`goroutine 7 [running]:\nmain.main()`), want: "unreadable"},
		"a Python stack":       {answer: failure(`Traceback (most recent call last):\n  File \"server.py\", line 3`), want: "unreadable"},
		"a JavaScript stack":   {answer: failure(`Error: x\n    at send (server.mjs:10:3)`), want: "unreadable"},
		"a Go value":           {answer: failure("&{Missing:[ticket_id]}"), want: "unreadable"},
		"a Go error":           {answer: failure("invalid character '<' looking for beginning of value"), want: "unreadable"},
		"a JavaScript value":   {answer: failure("Error: [object Object]"), want: "unreadable"},
		"a problem document":   {answer: failure(`{\"type\":\"urn:kitebase:problem:injected\"}`), want: "unreadable"},
		"too long":             {answer: failure(strings.Repeat("long ", 2001)), want: "unreadable"},
		"plain words":          {answer: failure("Error: No ticket KITE-412. Ticket ids look like KITE-142.")},
	})
}

// trial is a server that does one thing and says one thing.
type trial struct {
	story  string // the case; once/well if empty
	sends  int    // emails that each reply sends
	most   int    // emails that it sends at all; 0 for any number
	also   string // one more email, see script
	answer string
	want   string // kinds, in order
}

func judged(t *testing.T, trials map[string]trial) {
	t.Helper()
	for name, c := range trials {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report := run(t, config(t, []string{cmp.Or(c.story, "once/well")}, fmt.Sprintf("-sends=%d", c.sends), fmt.Sprintf("-most=%d", c.most), "-also="+c.also, "-answer="+c.answer))
			var want []string
			for _, finding := range report.Cases[0].Findings {
				word := string(finding.Kind)
				if finding.Count > 1 {
					word += fmt.Sprintf(" x%d", finding.Count)
				}
				want = append(want, word)
			}
			_, says := kinds(report)
			require.Equal(t, c.want, strings.Join(want, " "), says)
		})
	}
}

func TestUnanswered(t *testing.T) {
	t.Parallel()
	t.Run("silent", func(t *testing.T) {
		t.Parallel()
		c := config(t, []string{"once/lose", "host/cancels-lost"}, "-does=silent")
		c.CallLimit = 200 * time.Millisecond
		report := run(t, c)
		found, says := kinds(report)
		require.Equal(t, []lab.Kind{lab.Unanswered, lab.Unanswered, lab.Unanswered}, found, "the one that the host cancelled needs no answer\n"+says)
		require.Contains(t, says, "no answer within 200ms.")
	})
	t.Run("dies", func(t *testing.T) {
		t.Parallel()
		report := run(t, config(t, []string{"once/lose", "repeat/lose", "end/killed-lost"}, "-does=dies"))
		found, says := kinds(report)
		require.Equal(t, []lab.Kind{lab.Unanswered, lab.Unanswered, lab.Unanswered, lab.Unanswered, lab.Unanswered, lab.Unanswered}, found, says)
		require.Contains(t, says, "the server ended without an answer.")
		require.Equal(t, []string{"the server ended by itself: exit status 9", "a last word"}, report.Cases[0].LastWords)
	})
}

// TestOutcomeDecidesTheRepeat: a model that is told by the field that nothing was done asks again, whatever the form of the answer.
func TestOutcomeDecidesTheRepeat(t *testing.T) {
	t.Parallel()
	for word, calls := range map[string]int{"not_done": 3, "unknown": 3, "done": 1} {
		report := run(t, config(t, []string{"repeat/503"}, "-sends=1", "-most=0", "-answer="+untold("Well.", word)))
		require.Len(t, report.Cases[0].Calls, calls, word)
	}
}

// TestEmailsThatNobodyAskedFor: a receipt and a copy to somebody else were in no column; they are named, and marked as too many.
func TestEmailsThatNobodyAskedFor(t *testing.T) {
	t.Parallel()
	for also, says := range map[string]string{
		"receipt":   `the customer of KITE-142 got 1 email that no reply asked for: "We have got your message.".`,
		"elsewhere": `the customer of KITE-103 got 1 email that no reply asked for: "Sorry that you are locked out. The article on account recove…".`,
	} {
		report := run(t, config(t, []string{"once/well"}, "-also="+also, "-most=0", "-answer="+text("Sent.")))
		result := report.Cases[0]
		require.Equal(t, says, result.Findings[0].Says)
		require.Equal(t, 1, result.Delivered)
		require.Len(t, result.Emails, 2)
		require.False(t, result.Emails[0].TooMany)
		require.True(t, result.Emails[1].TooMany)
	}
}
