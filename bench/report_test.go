package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSpreadOf(t *testing.T) {
	require.Equal(t, spread{Median: 2, Min: 1, Max: 9}, spreadOf([]float64{9, 1, 2}))
	require.Equal(t, spread{Median: 2.5, Min: 1, Max: 9}, spreadOf([]float64{9, 1, 2, 3}))
}

func TestNumber(t *testing.T) {
	for value, want := range map[float64]string{0.123: "0.12", 9.999: "10.00", 12.34: "12.3", 187.4: "187", 999.7: "1,000", 12700: "12,700"} {
		require.Equal(t, want, number(value))
	}
}

// TestTable has ratios taken round by round: the median of the ratios, not the ratio of the medians.
func TestTable(t *testing.T) {
	of := func(name string, values ...float64) *sheet {
		return &sheet{Name: name, Transport: "stdio", Rounds: map[string][]float64{p50.name: values}}
	}
	r := &report{Machine: "a machine", Load: "1", Settings: "3 rounds", Sheets: []*sheet{
		of(ours, 110, 190, 104), of(bare, 100, 200, 100), {Name: ours, Transport: "http"}, {Name: bare, Transport: "http"},
	}}
	var b strings.Builder
	require.NoError(t, r.writeTable(&b))
	require.Contains(t, b.String(), "| one after another, p50 | 100 (100–200) µs | × 1.04 (0.95–1.10); 110 |\n")
	require.Contains(t, b.String(), "| stdio: one after another, p50, divided by bare mcp-go | ≤ 1.05 | 1.04 (0.95–1.10) | met |\n")
	require.NotContains(t, b.String(), typescript, "who did not take part has no target")
}

// TestCheck is why a server that fails fast wins no race.
func TestCheck(t *testing.T) {
	require.NoError(t, check([]byte(`{"id":1,"result":{"content":[{"text":"KITE-142"}]}}`)))
	require.Error(t, check([]byte(`{"id":1,"result":{"content":[{"text":"No KITE-142"}],"isError":true}}`)))
	require.Error(t, check([]byte(`{"id":1,"error":{"message":"KITE-142"}}`)))
}
