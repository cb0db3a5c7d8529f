package kitebase_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/tools/kitebase"
)

func TestConfigIsRefused(t *testing.T) {
	const example = "give one like https://kitebase.example.com"
	for _, row := range []struct{ url, token, want string }{
		{"", "", "kitebase URL: it is missing; " + example},
		{"/", "", "kitebase URL: it is missing; " + example},
		{"kitebase.example.com", "", "kitebase URL: it must begin with https:// or http://; " + example},
		{"localhost:8142", "", "kitebase URL: it must begin with https:// or http://; " + example},
		{"127.0.0.1:8142", "", "kitebase URL: it cannot be read as a URL; " + example},
		{"ftp://kitebase.example.com", "", "kitebase URL: it must begin with https:// or http://; " + example},
		{"https:kitebase", "", "kitebase URL: it names no host; " + example},
		{"https://", "", "kitebase URL: it names no host; " + example},
		{"https://:8142", "", "kitebase URL: it names no host; " + example},
		{"https://kitebase.example.com:99999", "", "kitebase URL: its port must be a number from 1 to 65535; " + example},
		{"https://kitebase.example.com:0", "", "kitebase URL: its port must be a number from 1 to 65535; " + example},
		{"https://kitebase.example.com:http", "", "kitebase URL: it cannot be read as a URL; " + example},
		{"https://priya:hunter2@kitebase.example.com", "", "kitebase URL: it holds a user name or password; give the credential as the token instead"},
		{"https://hunter2@kitebase.example.com", "", "kitebase URL: it holds a user name or password; give the credential as the token instead"},
		{"https://kitebase.example.com?token=hunter2", "", "kitebase URL: it holds a query (?…); leave it out, and give credentials as the token"},
		{"https://kitebase.example.com/?", "", "kitebase URL: it holds a query (?…); leave it out, and give credentials as the token"},
		{"https://kitebase.example.com/#hunter2", "", "kitebase URL: it holds a fragment (#…); leave it out"},
		{"https://kitebase.example.com/\x7fhunter2", "", "kitebase URL: it cannot be read as a URL; " + example},
		{"https://kitebase.example.com", "hunter2\n", "kitebase token: it holds a space, a line break or another character that cannot be sent; give the bare token"},
		{"https://kitebase.example.com", "Bearer hunter2", "kitebase token: it holds a space, a line break or another character that cannot be sent; give the bare token"},
	} {
		t.Run(row.url+row.token, func(t *testing.T) {
			_, err := kitebase.New(kitebase.Config{BaseURL: row.url, Token: row.token})
			require.EqualError(t, err, row.want)
			require.NotContains(t, err.Error(), "hunter2")
		})
	}
}

func TestConfigIsAccepted(t *testing.T) {
	for _, url := range []string{
		"https://kitebase.example.com", "http://127.0.0.1:8142", "http://[::1]:8142/", "https://example.com/desk/", "HTTPS://example.com",
	} {
		_, err := kitebase.New(kitebase.Config{BaseURL: url})
		require.NoError(t, err, url)
	}
}
