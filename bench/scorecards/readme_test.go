package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server/lab"
)

// TestREADME holds the table in README.md to the lab as it is: a new case or a new row makes it old, and a finding in our own
// server may not stand there.
func TestREADME(t *testing.T) {
	text, err := os.ReadFile("../" + readme) // tests run in the directory of their package
	require.NoError(t, err)
	_, table, _, err := section(string(text))
	require.NoError(t, err)
	const hint = "write it anew: go run -C bench ./scorecards -update"

	var rows [][]string
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		require.Len(t, cells, 1+len(contestants), line)
		rows = append(rows, cells)
	}
	want := append(counts(), told()...)
	require.Len(t, rows, 2+len(want), hint)
	require.Equal(t, fmt.Sprintf("%d cases", countedCases()), rows[0][0], hint)
	for i, each := range contestants {
		require.Equal(t, each.name, rows[0][i+1])
	}
	for i, each := range want {
		require.Equal(t, each.name, rows[i+2][0], hint)
		for _, cell := range rows[i+2][1:] {
			require.Regexp(t, regexp.MustCompile(`^\d`), cell)
		}
	}
	for i := range counts() {
		require.Equal(t, "0", rows[i+2][1], "kitebase-mcp: %s", rows[i+2][0])
	}
	require.NotEqual(t, "0", rows[2][2], "a lab that finds no duplicate in a server without a guard is broken")
}

func countedCases() int {
	n := 0
	for _, each := range lab.Catalogue() {
		if !each.Keyless {
			n++
		}
	}
	return n
}
