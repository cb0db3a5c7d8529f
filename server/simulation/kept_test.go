package simulation_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

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
			var kept struct {
				About    string   `json:"about"`
				Schedule Schedule `json:"schedule"`
			}
			decoder := json.NewDecoder(strings.NewReader(string(text)))
			decoder.DisallowUnknownFields()
			require.NoError(t, decoder.Decode(&kept))
			require.NotEmpty(t, kept.About)
			for range triesOfFlaky {
				failures, what := run(t, kept.Schedule)
				require.Empty(t, failures, "%s\n%s\n%s", kept.About, kept.Schedule, strings.Join(what, "\n"))
			}
		})
	}
}
