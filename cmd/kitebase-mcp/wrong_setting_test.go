package main_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"
)

// TestWrongSettings holds what a wrong command line or environment is answered with to testdata/wrong_settings.txtar,
// where each file is named by the words of a command line (NAME=value in front: environment) and holds stderr. It is one
// line, exit code 2, and nothing on stdout.
func TestWrongSettings(t *testing.T) {
	t.Parallel()
	const file = "testdata/wrong_settings.txtar"
	archive, err := txtar.ParseFile(file)
	require.NoError(t, err)
	if *update {
		t.Cleanup(func() { require.NoError(t, os.WriteFile(file, txtar.Format(archive), 0o644)) })
	}
	for i, line := range archive.Files {
		t.Run(line.Name, func(t *testing.T) {
			if !*update { // which writes into archive
				t.Parallel()
			}
			var way start
			for _, word := range strings.Fields(line.Name) {
				if strings.HasPrefix(word, "KITEBASE_") {
					way.env = append(way.env, word)
				} else {
					way.args = append(way.args, word)
				}
			}
			end := way.run(t, "")
			require.Equal(t, 2, end.code, end.stderr)
			require.Empty(t, end.stdout)
			require.Equal(t, 1, strings.Count(end.stderr, "\n"), "one line, not: %s", end.stderr)
			if *update {
				archive.Files[i].Data = []byte(end.stderr)
			}
			require.NotContains(t, end.stderr, "tok-secret")
			if name := settingName(line.Name); name != "" {
				require.Contains(t, end.stderr, "--"+name, "the line does not name the setting")
			}
			require.Equal(t, string(archive.Files[i].Data), end.stderr)
		})
	}
}

// settingName returns the flag that the last word of a command line sets, "" if it sets none.
func settingName(words string) string {
	word := words[strings.LastIndex(words, " ")+1:]
	if name, variable := strings.CutPrefix(word, "KITEBASE_"); variable {
		name, _, _ = strings.Cut(name, "=")
		return strings.ToLower(strings.ReplaceAll(name, "_", "-"))
	}
	name, isFlag := strings.CutPrefix(word, "--")
	if !isFlag {
		return ""
	}
	name, _, _ = strings.Cut(name, "=")
	return name
}
