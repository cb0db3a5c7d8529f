package server_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server"
)

// Two servers of one Kitebase whose URL was written differently remembered apart, and sent a reply twice.
func TestScope(t *testing.T) {
	for url, want := range map[string]string{
		"https://kitebase.example":         "https://kitebase.example",
		"https://kitebase.example/":        "https://kitebase.example",
		"HTTPS://Kitebase.Example:443":     "https://kitebase.example",
		"http://kitebase.example:80//":     "http://kitebase.example",
		"http://kitebase.example:443":      "http://kitebase.example:443",
		"https://kitebase.example:8443/Eu": "https://kitebase.example:8443/Eu",
		"http://[::1]:8142":                "http://[::1]:8142",
		"":                                 "",
	} {
		require.Equal(t, want, server.Scope(url, ""), url)
		require.Equal(t, want+"#north", server.Scope(url, "north"), url)
	}
}
