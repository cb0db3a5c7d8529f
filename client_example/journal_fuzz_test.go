package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/client_example/agent"
)

// FuzzJournal states: whatever a file holds, it is either refused and left alone, or it is taken up with each of its whole lines and
// nothing else; what is then written is there when it is taken up once more, wherever the process died in between.
func FuzzJournal(f *testing.F) {
	for _, lines := range []string{
		"", `{"begin":{"step":1}}` + "\n" + `{"end":{"step":1}}` + "\n", `{"begin":{"st`, `{"ending":{"text":"DONE","document":{}}}` + "\n" + `{"told":true}` + "\n",
		"{}\n\n", "null\n", `{"end":{"step":7},"told":true}` + "\n", `{"end":{"step":7}}` + "\r\n", "\xff\n",
	} {
		f.Add(testHeader+lines, uint8(3))
	}
	f.Add(testHeader[:9], uint8(200))
	f.Add("Dear diary", uint8(0))
	f.Fuzz(func(t *testing.T, text string, cut uint8) {
		path := filepath.Join(t.TempDir(), "run.journal")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		j, err := openJournal(path, true, testIdentity(), nil)
		if err != nil {
			require.Equal(t, text, contents(t, path), "it is left alone")
			return
		}
		whole := text[:strings.LastIndexByte(text, '\n')+1]
		if whole == "" {
			require.True(t, strings.HasPrefix(testHeader, text))
			whole = testHeader
		}
		require.Equal(t, whole, contents(t, path))
		ended := endedSteps(t, whole, 7)
		for range ended {
			past, err := j.Begin(agent.Step{Number: 7})
			require.NoError(t, err)
			require.NotNil(t, past, "what has ended is not done again")
		}
		past, err := j.Begin(agent.Step{Number: 7})
		require.NoError(t, err)
		require.Nil(t, past)
		require.NoError(t, j.End(agent.Step{Number: 7}))
		require.NoError(t, j.Close())

		written := contents(t, path)
		require.True(t, strings.HasPrefix(written, whole))
		left := written[:max(len(whole), len(written)-int(cut))] // the last bytes had not come to the disk
		require.NoError(t, os.WriteFile(path, []byte(left), 0o600))
		j, err = openJournal(path, true, testIdentity(), nil)
		require.NoError(t, err)
		for range endedSteps(t, left[:strings.LastIndexByte(left, '\n')+1], 7) {
			past, err := j.Begin(agent.Step{Number: 7})
			require.NoError(t, err)
			require.NotNil(t, past)
		}
		require.NoError(t, j.Close())
	})
}

func contents(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

// endedSteps counts the turns with that number that have ended, by the standard library's reading of each line.
func endedSteps(t *testing.T, whole string, number int) (ended int) {
	t.Helper()
	for i, text := range strings.Split(strings.TrimSuffix(whole, "\n"), "\n") {
		var r record
		if i > 0 {
			require.NoError(t, json.Unmarshal([]byte(text), &r), "a damaged line was taken")
		}
		if r.End != nil && r.End.Number == number && r.End.Use == nil {
			ended++
		}
	}
	return ended
}
