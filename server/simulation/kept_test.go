package simulation_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// kept is a file of testdata/schedules.
type kept struct {
	// About says what had gone wrong.
	About    string   `json:"about"`
	Schedule Schedule `json:"schedule"`
}

// readKept reads such a file.
func readKept(t *testing.T, text string) (k kept) {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	require.NoError(t, decoder.Decode(&k))
	require.NotEmpty(t, k.About)
	return k
}

// String returns the file.
func (k kept) String() string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(k); err != nil {
		panic(err) // numbers and texts
	}
	return b.String()
}

// TestKeptSchedules plays the schedules of testdata/schedules: each once failed, and says what had gone wrong. They are
// kept whole rather than as seeds, since a seed is another schedule as soon as the generator changes.
func TestKeptSchedules(t *testing.T) {
	files, err := filepath.Glob("testdata/schedules/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			k := readKept(t, string(text))
			for range triesOfFlaky {
				failures, what := run(t, k.Schedule)
				require.Empty(t, failures, "%s\n%s\n%s\nto see it again: %s", k.About, k.Schedule, strings.Join(what, "\n"), again(t, k.Schedule))
			}
		})
	}
}

// TestKeptAsPrinted guards what a failure prints to be kept: it was once refused by the reader, which wants a file to say
// what had gone wrong.
func TestKeptAsPrinted(t *testing.T) {
	for seed := range uint64(50) {
		k := kept{`circuits are not stuck: <"get_ticket" & more>`, generate(seed)}
		require.Equal(t, k, readKept(t, k.String()))
	}
}
