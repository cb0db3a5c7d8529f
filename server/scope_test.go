package server_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server"
)

// Two servers of one Kitebase that wrote its URL differently once had two scopes in one ledger, and so sent a reply twice.
// The ledger holds no address, so a scope is a hash.
func TestScope(t *testing.T) {
	kitebases := make(map[string]string)
	for _, spellings := range [][]string{
		{"https://kitebase.example", "https://kitebase.example/", "HTTPS://Kitebase.Example:443"},
		{"http://kitebase.example", "http://kitebase.example:80//"},
		{"http://kitebase.example:443"},
		{"https://kitebase.example:8443/Eu"},
		{"https://kitebase.example:8443/eu"},
		{"http://[::1]:8142"},
		{""},
	} {
		scope, account := server.Scope(spellings[0], ""), server.Scope(spellings[0], "north")
		require.Regexp(t, "^[0-9a-f]{32}$", scope)
		for _, url := range spellings {
			require.Equal(t, scope, server.Scope(url, ""), url)
			require.Equal(t, account, server.Scope(url, "north"), url)
		}
		for _, one := range []string{scope, account} {
			require.NotContains(t, kitebases, one, "%s has the scope of another", spellings[0])
			kitebases[one] = spellings[0]
		}
	}
}
