package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/client_example/agent"
)

func testIdentity() identity {
	return identity{Version: journalVersion, Scenario: "happy", Ticket: ticketID, Model: "script", Server: "5e0c"}
}

const testHeader = `{"journal":1,"scenario":"happy","ticket":"KITE-142","model":"script","server":"5e0c"}` + "\n"

func TestJournalOfAnotherRunIsRefused(t *testing.T) {
	for name, test := range map[string]struct{ text, err string }{
		"another version":  {strings.Replace(testHeader, `"journal":1`, `"journal":2`, 1), "is the journal of a run with version 2, not 1; it can only go on as it began"},
		"another ticket":   {strings.Replace(testHeader, "142", "101", 1), "is the journal of a run with ticket KITE-101, not KITE-142"},
		"another scenario": {strings.Replace(testHeader, "happy", "loop", 1), "with scenario loop, not happy"},
		"another model":    {strings.Replace(testHeader, "script", "claude-opus-5-5", 1), "with model claude-opus-5-5, not script"},
		"another server":   {strings.Replace(testHeader, "5e0c", "ffff", 1), "is the journal of a run with another server; it can only go on with the one that knows what was sent"},
		"no journal":       {"Dear diary,\n", "is no journal"},
		"other JSON":       {"{\"version\":1}\n", "is no journal"},
		"no line at all":   {"Dear diary", "is no journal of this run"},
		"a damaged line":   {testHeader + "{\"begin\":{\"st\n" + "{\"told\":true}\n", "line 2 of "},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "run.journal")
			require.NoError(t, os.WriteFile(path, []byte(test.text), 0o600))
			_, err := openJournal(path, true, testIdentity(), nil)
			require.ErrorContains(t, err, test.err)
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, test.text, string(text), "it is left alone")
		})
	}
}

func TestJournalToleratesHalfALine(t *testing.T) {
	for name, test := range map[string]struct{ text, kept string }{
		"nothing":       {"", testHeader},
		"half the head": {testHeader[:20], testHeader},
		"the head":      {testHeader, testHeader},
		"half a record": {testHeader + `{"begin":{"step":1}}` + "\n" + `{"end":{"st`, testHeader + `{"begin":{"step":1}}` + "\n"},
		"no line end":   {testHeader + `{"told":true}`, testHeader},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "run.journal")
			require.NoError(t, os.WriteFile(path, []byte(test.text), 0o600))
			j, err := openJournal(path, true, testIdentity(), nil)
			require.NoError(t, err)
			defer func() { require.NoError(t, j.Close()) }()
			require.False(t, j.told)
			_, err = j.Begin(agent.Step{Number: 7})
			require.NoError(t, err)
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, test.kept+`{"begin":{"step":7}}`+"\n", string(text))
		})
	}
}

func TestJournalIsOfOneRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.journal")
	_, err := openJournal(path, true, testIdentity(), nil)
	require.ErrorIs(t, err, os.ErrNotExist)
	j, err := openJournal(path, false, testIdentity(), nil)
	require.NoError(t, err)
	_, err = openJournal(path, true, testIdentity(), nil)
	require.EqualError(t, err, "the run of "+path+" is still going on")
	require.NoError(t, j.Close())
	_, err = openJournal(path, false, testIdentity(), nil)
	require.EqualError(t, err, "there is a file "+path+"; go on with its run by -resume, or name another")
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), "it holds what customers wrote")
}

// fullFile is on a disk that is full after some writes, the last of which gets half of its bytes.
type fullFile struct {
	journalFile
	left int
}

func (f *fullFile) Write(p []byte) (int, error) {
	if f.left--; f.left >= 0 {
		return f.journalFile.Write(p)
	}
	n, err := f.journalFile.Write(p[:len(p)/2])
	return n, errors.Join(err, errors.New("no space left"))
}

// scripted is a run of the script on a help desk and a ledger that outlive it.
func scripted(t *testing.T, flags ...string) (options, *bytes.Buffer, func(ctx context.Context, o options) error) {
	_, desk := open(t)
	command := server + " --url " + desk.URL() + " --ledger " + filepath.Join(t.TempDir(), "ledger.db")
	o, err := parseArguments(append([]string{"-server", command}, flags...), t.Output())
	require.NoError(t, err)
	var stdout bytes.Buffer
	return o, &stdout, func(ctx context.Context, o options) error {
		return o.run(ctx, os.Environ(), &stdout, t.Output())
	}
}

func TestDiskThatFillsUpEndsTheRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.journal")
	o, stdout, run := scripted(t, "-journal", path)
	o.wrap = func(file journalFile) journalFile { return &fullFile{journalFile: file, left: 12} }
	err := run(t.Context(), o)
	require.ErrorContains(t, err, "do not resume this run: how it ended has been told")
	require.Contains(t, stdout.String(), `
I couldn't finish this: the run could not be written down.
Changes made: a reply was sent: rpl_001.
A person needs to pick this up.
FAILED (journal_failed) after 3 step(s)
`, "the reply had been sent before its end could not be written")
}

// TestInterruptedRunGoesOn: who interrupts a run that has a journal wants it to go on, so nothing is handed over.
func TestInterruptedRunGoesOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.journal")
	o, stdout, run := scripted(t, "-journal", path)
	ctx, cancel := context.WithCancel(t.Context())
	o.wrap = func(file journalFile) journalFile { return &watchedFile{file, `"search_help"`, cancel} }
	require.EqualError(t, run(ctx, o), "scenario happy: interrupted; to go on, say -resume "+path+" in place of -journal")
	require.NotContains(t, stdout.String(), "I couldn't finish this")

	stdout.Reset()
	o.journal, o.resume, o.wrap = "", path, nil
	require.NoError(t, run(t.Context(), o))
	require.True(t, strings.HasPrefix(stdout.String(), `[1] get_ticket {"ticket_id": "KITE-142"}`), "what happened before is shown again:\n%s", stdout)
	require.Equal(t, "DONE (end_turn) after 4 step(s)", lastLineOf(stdout.String()))
	require.EqualError(t, run(t.Context(), o), "the run of "+path+" has ended, and that has been told: see its last lines")
}

// watchedFile calls seen when something is written that has text in it.
type watchedFile struct {
	journalFile
	text string
	seen func()
}

func (f *watchedFile) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte(f.text)) {
		f.seen()
	}
	return f.journalFile.Write(p)
}

// TestEndingThatWasNotToldIsTold: of a run that was handed over as well, and as a document if that is asked for.
func TestEndingThatWasNotToldIsTold(t *testing.T) {
	for flag, want := range map[string]string{"": "I couldn't finish this: so.\n", "-json": "{\"scenario\":\"happy\"}\n"} {
		t.Run("with "+flag, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "run.journal")
			j, err := openJournal(path, false, testIdentity(), nil)
			require.NoError(t, err)
			require.NoError(t, j.write(record{Ending: &ending{Text: "I couldn't finish this: so.\n", Document: []byte(`{"scenario":"happy"}`), HandedOver: true}}))
			require.NoError(t, j.Close())

			j, err = openJournal(path, true, testIdentity(), nil)
			require.NoError(t, err)
			defer func() { require.NoError(t, j.Close()) }()
			require.True(t, j.ended())
			var stdout bytes.Buffer
			require.ErrorIs(t, j.tellLate(&stdout, flag == "-json"), errHandedOver)
			require.Equal(t, want, stdout.String())
		})
	}
}
