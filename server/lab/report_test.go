package lab_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/kitebase/kitebase-mcp/server/lab"
)

// sample is a report with one of everything, and with texts that want to be markup.
func sample() *lab.Report {
	hostile := `<script>alert("x")</script> & <img src=http://kitebase.example/x.png>`
	cases := []lab.Result{
		{
			Name: "once/lose", Breaks: "Kitebase does the work and cuts the connection, once.", Does: "One reply, once.",
			Judged: "The customer gets at most one email, and each answer about it is true.", Counted: true, Wanted: 1, Delivered: 1,
			Findings: []lab.Finding{
				{Kind: lab.Unreadable, Call: 1, Count: 1, Says: "reply_to_customer: it contains HTML."},
				{Kind: lab.FalseFailed, Call: 1, Count: 1, Says: "reply_to_customer: told as failed, but it was done."},
				{Kind: lab.Duplicate, Count: 2, Says: "the customer of KITE-142 got 3 emails instead of 1."},
				{Kind: lab.StrayOutput, Count: 1, Says: "1 line on stdout is no JSON-RPC message: Server running"},
			},
			Calls: []lab.Call{
				{Number: 1, Tool: "reply_to_customer", Arguments: json.RawMessage(`{"message":"Hello","ticket_id":"KITE-142"}`), AtMS: 1, TookMS: 5000.4,
					Answer: lab.AnswerError, Claim: lab.ClaimsFailed, Text: hostile},
				{Number: 2, Tool: "get_ticket", Arguments: json.RawMessage(`{"ticket_id":"KITE-142"}`), AtMS: 5002, TookMS: 2.5, Answer: lab.AnswerResult, Text: "{}"},
				{Number: 3, Tool: "reply_to_customer", Arguments: json.RawMessage(`{}`), AtMS: 5002, TookMS: 40, Answer: lab.AnswerNone, Excused: "the host cancelled it"},
			},
			Requests: []lab.Request{{AtMS: 2, Operation: "reply_to_customer", Fault: "lose"}, {AtMS: 5003, Operation: "get_ticket", Status: 200, Keyed: true}},
			Emails: []lab.Email{{AtMS: 2.5, Ticket: "KITE-142", Body: "Hello"}, {AtMS: 3, Ticket: "KITE-142", Body: "Hello", TooMany: true},
				{AtMS: 4, Ticket: "KITE-142", Body: hostile, TooMany: true}},
			Events:    []lab.Event{{AtMS: 0, Says: "Kitebase goes wrong: reply_to_customer lose"}},
			LastWords: []string{"the server ended by itself: exit status 9", hostile},
		},
		{Name: "once/well", Breaks: "Nothing.", Does: "One reply, once.", Judged: "That.", Counted: true, Skipped: "the server has no tool reply_to_customer"},
		{Name: "keyless/lose", Breaks: "Nothing.", Does: "One reply.", Judged: "That.", Wanted: 1, Delivered: 1,
			Findings: []lab.Finding{{Kind: lab.Duplicate, Count: 1, Says: "the customer of KITE-142 got 2 emails instead of 1."}},
			Calls:    []lab.Call{{Number: 1, Tool: "reply_to_customer", Arguments: json.RawMessage(`{}`), TookMS: 3, Answer: lab.AnswerResult, Claim: lab.ClaimsSent}}},
	}
	for i := range 64 {
		cases[2].Calls = append(cases[2].Calls, lab.Call{Number: i + 2, Tool: "get_ticket", Arguments: json.RawMessage(`{}`), AtMS: 4, TookMS: float64(i), Answer: lab.AnswerResult})
	}
	return lab.NewReport([]string{"node", "server.mjs", "<b>"}, cases)
}

// TestWritten holds what is printed, for people and for programs, to testdata/written.txtar. The story of a case is left out: it
// stands in the page, too.
func TestWritten(t *testing.T) {
	t.Parallel()
	report := sample()
	report.Cases[2].Calls = report.Cases[2].Calls[:1]
	report = lab.NewReport(report.Command, report.Cases)
	var table, document bytes.Buffer
	require.NoError(t, report.WriteTable(&table))
	require.NoError(t, report.WriteJSON(&document))
	require.True(t, json.Valid(document.Bytes()))
	got := txtar.Format(&txtar.Archive{
		Comment: []byte("What the lab prints of a report.\nWritten by: go test ./server/lab -run TestWritten -update\n"),
		Files:   []txtar.File{{Name: "table", Data: table.Bytes()}, {Name: "json", Data: document.Bytes()}},
	})
	const file = "testdata/written.txtar"
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(file, got, 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
}

// TestGuide: docs/lab.md has the rules as they are, and every group of cases.
func TestGuide(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/lab.md")
	require.NoError(t, err)
	words := strings.Join(strings.Fields(string(text)), " ")
	for _, rule := range lab.Rules() {
		require.Contains(t, words, rule.Says)
	}
	for _, each := range lab.Catalogue() {
		group, _, _ := strings.Cut(each.Name, "/")
		require.Contains(t, words, "`"+group+"/…`")
	}
}
