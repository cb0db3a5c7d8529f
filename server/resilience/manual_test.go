package resilience_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const manual = "../../docs/resilience.md"

// TestTimelines holds the timelines in the manual to what really happens.
func TestTimelines(t *testing.T) {
	page, err := os.ReadFile(manual)
	require.NoError(t, err)
	for name, happened := range timelines(t) {
		block := regexp.MustCompile("(?s)(<!-- timeline: " + name + " -->\n```text\n).*?(```\n)")
		require.Len(t, block.FindAll(page, -1), 1, "the manual must have one timeline of %s", name)
		if *update {
			page = block.ReplaceAll(page, []byte("${1}"+strings.ReplaceAll(happened, "$", "$$")+"${2}"))
			continue
		}
		require.Contains(t, string(page), "<!-- timeline: "+name+" -->\n```text\n"+happened+"```\n")
	}
	if *update {
		require.NoError(t, os.WriteFile(manual, page, 0o644))
	}
}

// TestTheProgramInTheManualCompiles builds what a reader would copy.
func TestTheProgramInTheManualCompiles(t *testing.T) {
	page, err := os.ReadFile(manual)
	require.NoError(t, err)
	programs := regexp.MustCompile("(?s)```go\n(package main\n.*?)```\n").FindAllSubmatch(page, -1)
	require.Len(t, programs, 1)
	file := filepath.Join(t.TempDir(), "main.go")
	require.NoError(t, os.WriteFile(file, programs[0][1], 0o600))
	// Inside this module, so that its go.mod says which versions are meant.
	build := exec.Command("go", "build", "-o", os.DevNull, file)
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	vet := exec.Command("go", "vet", file)
	out, err = vet.CombinedOutput()
	require.NoError(t, err, "%s", out)
}
