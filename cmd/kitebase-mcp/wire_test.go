package main_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/kitebase/kitebase-mcp/fakeapi"
)

// TestWire holds the lines on stdout, byte for byte, to testdata/wire/*.txtar. A file has
//
//	prose        what it guards
//	-- faults -- faults of Kitebase, one a line, as fakeapi.ParseFault reads them; may be left out
//	-- client -- lines for stdin; each is sent when the one before it has been answered
//	-- server -- all lines on stdout, rewritten by -update
//
// In the client's lines ␍ stands for a carriage return, and ␄ at the end of the last one for no line end at all.
func TestWire(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/wire/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			require.NoError(t, err)
			got := converse(t, archive)
			if *update {
				setSection(archive, "server", got)
				require.NoError(t, os.WriteFile(file, txtar.Format(archive), 0o644))
				return
			}
			require.Equal(t, section(archive, "server"), got)
		})
	}
}

// converse plays the client of archive and returns what the server wrote.
func converse(t *testing.T, archive *txtar.Archive) string {
	began := time.Now()
	kitebase := startUpstream(t, fakeapi.Config{})
	for spec := range strings.Lines(section(archive, "faults")) {
		kitebase.fault(t, strings.TrimSpace(spec))
	}
	server := start{args: []string{"--url", kitebase.url}}.serve(t)
	seen := map[string]int{}
	for line := range strings.Lines(section(archive, "client")) {
		line = strings.ReplaceAll(line, "␍", "\r")
		if whole, last := strings.CutSuffix(line, "␄\n"); last {
			server.write(whole)
			break // the end of the input is the end of the line
		}
		server.write(line)
		if id, answered := expects(line); answered {
			seen[id]++
			server.awaitN(id, seen[id])
		}
	}
	server.end()
	var lines strings.Builder
	for _, a := range server.received() {
		lines.WriteString(timeless(a.line, began) + "\n")
	}
	return lines.String()
}

// expects returns the id, as JSON, under which a line must be answered, and false for one that gets no answer.
func expects(line string) (id string, answered bool) {
	var message struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	switch err := json.Unmarshal([]byte(line), &message); {
	case strings.TrimSpace(line) == "":
		return "", false
	case err != nil || message.ID != nil && !regexp.MustCompile(`^("|[-\d])`).Match(message.ID):
		return "null", true
	case message.ID == nil:
		return "", false
	}
	return string(message.ID), true
}

var (
	timestamp = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)
	clockTime = regexp.MustCompile(`\bat \d\d:\d\d:\d\d UTC`)
)

// timeless replaces what differs from run to run: RFC 3339 times since the test began become TIME, all others stay as they
// are; the time of day in the note of a repeat becomes HH:MM:SS.
func timeless(line string, began time.Time) string {
	line = timestamp.ReplaceAllStringFunc(line, func(text string) string {
		at, err := time.Parse(time.RFC3339Nano, text)
		if err != nil || at.Before(began.Truncate(time.Second)) || at.After(time.Now()) {
			return text
		}
		return "TIME"
	})
	return clockTime.ReplaceAllString(line, "at HH:MM:SS UTC")
}

func section(archive *txtar.Archive, name string) string {
	for _, file := range archive.Files {
		if file.Name == name {
			return string(file.Data)
		}
	}
	return ""
}

func setSection(archive *txtar.Archive, name, data string) {
	for i, file := range archive.Files {
		if file.Name == name {
			archive.Files[i].Data = []byte(data)
			return
		}
	}
	archive.Files = append(archive.Files, txtar.File{Name: name, Data: bytes.Clone([]byte(data))})
}
