package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLab: the program drives itself. The whole catalogue is run by .ci/run; here are the cases that end soon.
func TestLab(t *testing.T) {
	t.Parallel()
	lab := func(t *testing.T, args ...string) finished {
		t.Helper()
		// The settings of whoever runs the lab are not those of the server.
		return start{args: append([]string{"lab"}, args...), env: []string{"KITEBASE_ATTEMPTS=-1", "KITEBASE_DEDUPE=false"}}.run(t, "")
	}
	self := programPath(t)
	const quick = "--case=once/lose,once/garble,host/*,end/killed-lost,end/after,customer/*,arguments/*,repeat/reworded"
	t.Run("clean", func(t *testing.T) {
		t.Parallel()
		file := filepath.Join(t.TempDir(), "card.html")
		end := lab(t, quick, "--json", "--html="+file, "--", self)
		require.Zero(t, end.code, "%s%s", end.stderr, end.stdout)
		var report struct {
			Card struct {
				Cases, Calls, Wanted, Delivered int
			}
			Cases []struct{ Name string }
		}
		require.NoError(t, json.Unmarshal([]byte(end.stdout), &report))
		require.Equal(t, 13, report.Card.Cases)
		require.Len(t, report.Cases, report.Card.Cases)
		require.Contains(t, end.stderr, "13/13 ")
		page, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Contains(t, string(page), `<h2 id="customer">`)
	})
	t.Run("findings", func(t *testing.T) {
		t.Parallel()
		end := lab(t, "--case=repeat/reworded", "--", self, "--dedupe=false")
		require.Equal(t, 3, end.code, end.stderr)
		require.Contains(t, end.stdout, "repeat/reworded: duplicate: the customer of KITE-142 got 2 emails instead of 1.")
		require.Contains(t, end.stdout, "1 finding in 1 case: 1 duplicate")
	})
	t.Run("not counted", func(t *testing.T) {
		t.Parallel()
		end := lab(t, "--case=keyless/lose", "--", self)
		require.Zero(t, end.code, end.stderr)
		require.Contains(t, end.stdout, "(not counted)")
	})
	t.Run("does not start", func(t *testing.T) {
		t.Parallel()
		end := lab(t, "--", self, "--attempts", "0")
		require.Equal(t, 1, end.code)
		require.Contains(t, end.stderr, "--attempts (KITEBASE_ATTEMPTS) takes a number from 1", "its last words")
		require.Empty(t, end.stdout)
	})
	t.Run("no case can be run", func(t *testing.T) {
		t.Parallel()
		end := lab(t, "--case=once/well", "--", self, "--tools", "search_help")
		require.Equal(t, 1, end.code, end.stdout)
		require.Contains(t, end.stderr, "nothing to judge")
		require.Empty(t, end.stdout)
	})
	t.Run("page that cannot be opened", func(t *testing.T) {
		t.Parallel()
		end := lab(t, "--case=once/well", "--html="+filepath.Join(t.TempDir(), "none", "card.html"), "--", self)
		require.Equal(t, 1, end.code)
		require.Contains(t, end.stderr, "--html: open ")
		require.NotContains(t, end.stderr, "once/well", "it was found out after the run")
	})
	// The run had taken its time, and all that was left of it was this error.
	t.Run("page that cannot be written", func(t *testing.T) {
		t.Parallel()
		const full = "/dev/full"
		if _, err := os.Stat(full); err != nil {
			t.Skip("no device that is always full")
		}
		end := lab(t, "--case=once/well", "--html="+full, "--", self)
		require.Equal(t, 1, end.code)
		require.Contains(t, end.stderr, "--html: writing "+full)
		require.Contains(t, end.stdout, "Clean in 1 case: ")
	})
	t.Run("page of before", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		before, fresh := filepath.Join(dir, "before.html"), filepath.Join(dir, "fresh.html")
		long := strings.Repeat("an old page ", 1<<16)
		require.NoError(t, os.WriteFile(before, []byte(long), 0o600))
		for _, file := range []string{before, fresh} {
			require.Equal(t, 1, lab(t, "--html="+file, "--", self, "--attempts", "0").code)
		}
		kept, err := os.ReadFile(before)
		require.NoError(t, err)
		require.Equal(t, long, string(kept), "there is no new one")
		require.NoFileExists(t, fresh)
		require.Zero(t, lab(t, "--case=once/well", "--html="+before, "--", self).code)
		page, err := os.ReadFile(before)
		require.NoError(t, err)
		require.Contains(t, string(page), "Score card")
		require.NotContains(t, string(page), "an old page")
	})
	t.Run("list", func(t *testing.T) {
		t.Parallel()
		end := lab(t, "--list")
		require.Zero(t, end.code)
		require.Contains(t, end.stdout, "once/lose\n  Kitebase does the work and cuts the connection, once.\n  One reply, once.\n")
	})
	for want, args := range map[string][]string{
		"the command of the server is missing: put it after --": {},
		"no case is named nothing":                              {"--case=nothing", "--", self},
		"unknown flag --fault; the server":                      {"--fault=x", "--", self},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			end := lab(t, args...)
			require.Equal(t, 2, end.code)
			require.Contains(t, end.stderr, want)
		})
	}
}
