package simulation_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"
)

// Each file of testdata/mutants breaks the product in one way: prose on top that says what it does, then for each place
// "FILE old" and "FILE new", of which the old text must stand in the file exactly once.

// mutantSchedules is within how many schedules each mutant must be caught.
const mutantSchedules = 1000

func mutants(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/mutants/*.txtar")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 15)
	return files
}

// TestMutantsFitTheSource fails when a mutant no longer has the place that it breaks.
func TestMutantsFitTheSource(t *testing.T) {
	for _, file := range mutants(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			for name, broken := range mutate(t, file) {
				require.NotEmpty(t, broken, name)
			}
		})
	}
}

// mutate returns the files of the product that a mutant changes, by their paths from the root of the module, as they are
// with it.
func mutate(t *testing.T, mutant string) map[string]string {
	t.Helper()
	archive, err := txtar.ParseFile(mutant)
	require.NoError(t, err)
	require.NotEmpty(t, archive.Comment, "%s does not say what it breaks", mutant)
	broken := make(map[string]string)
	for i := 0; i+1 < len(archive.Files); i += 2 {
		from, to := archive.Files[i], archive.Files[i+1]
		name, isOld := strings.CutSuffix(from.Name, " old")
		require.True(t, isOld && to.Name == name+" new", "%s: %s is followed by %s", mutant, from.Name, to.Name)
		if broken[name] == "" {
			source, err := os.ReadFile(filepath.Join("../..", name))
			require.NoError(t, err, mutant)
			broken[name] = string(source)
		}
		require.Equal(t, 1, strings.Count(broken[name], string(from.Data)), "%s: this must stand in %s once:\n%s", mutant, name, from.Data)
		broken[name] = strings.Replace(broken[name], string(from.Data), string(to.Data), 1)
	}
	require.NotEmpty(t, broken, mutant)
	return broken
}

// TestMutants shows that the simulation sees: it compiles each mutant, without touching the source, and has it caught.
func TestMutants(t *testing.T) {
	if !*long {
		t.Skip("takes some minutes; give -args -long")
	}
	for _, file := range mutants(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel() // one is linked while another runs
			binary := compile(t, mutate(t, file))
			began := time.Now()
			out, err := exec.Command(binary, "-test.run=^TestSchedules$", "-test.timeout=15m", "-test.v",
				"-seed=1", "-schedules", strconv.Itoa(mutantSchedules), "-shrink=false").CombinedOutput()
			require.Error(t, err, "survives %d schedules; to see it again: go test ./server/simulation -run '%s' -args -long", mutantSchedules, t.Name())
			by := caught.FindString(string(out))
			require.NotEmpty(t, by, "it ended otherwise than by a schedule that fails:\n%s", out)
			t.Logf("%s (%s)", by, time.Since(began).Round(time.Second))
		})
	}
}

// caught finds what caught a mutant: a check, a panic of the product, or time that stands still.
var caught = regexp.MustCompile(`(?m)(seed \d+ fails: .*|^panic: .*)$`)

// compile builds the simulation with these files instead of those of the source.
func compile(t *testing.T, broken map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	replace := make(map[string]string)
	for name, source := range broken {
		file := filepath.Join(dir, strings.ReplaceAll(name, "/", "_"))
		require.NoError(t, os.WriteFile(file, []byte(source), 0o600))
		replace[filepath.Join(root, filepath.FromSlash(name))] = file
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	require.NoError(t, err)
	overlayFile, binary := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "simulation.test")
	require.NoError(t, os.WriteFile(overlayFile, overlay, 0o600))
	out, err := exec.Command("go", "test", "-c", "-vet=off", "-ldflags=-w", "-overlay", overlayFile, "-o", binary, ".").CombinedOutput()
	require.NoError(t, err, "it does not compile:\n%s", out)
	return binary
}
