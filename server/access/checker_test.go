package access_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server/access"
)

func TestAuthorization(t *testing.T) {
	checker := checkerOf(t, access.Config{Token: "correct-horse"})
	for name, c := range map[string]struct {
		values []string
		status int
		code   string
	}{
		"none":              {nil, 401, ""},
		"wrong":             {[]string{"Bearer correct-hors"}, 401, "invalid_token"},
		"longer":            {[]string{"Bearer correct-horse1"}, 401, "invalid_token"},
		"empty":             {[]string{""}, 401, "invalid_token"},
		"the scheme only":   {[]string{"Bearer"}, 401, "invalid_token"},
		"an empty token":    {[]string{"Bearer "}, 401, "invalid_token"},
		"another scheme":    {[]string{"Basic correct-horse"}, 401, "invalid_token"},
		"no scheme":         {[]string{"correct-horse"}, 401, "invalid_token"},
		"two tokens in one": {[]string{"Bearer correct-horse, Bearer x"}, 401, "invalid_token"},
		"two words":         {[]string{"Bearer correct-horse x"}, 401, "invalid_token"},
		"two headers":       {[]string{"Bearer correct-horse", "Bearer correct-horse"}, 400, "invalid_request"},
		"no ASCII":          {[]string{"Bearer correct-hörse"}, 401, "invalid_token"},
		"like a JWT":        {[]string{"Bearer a.b.c"}, 401, "invalid_token"},
		"right":             {[]string{"Bearer correct-horse"}, 0, ""},
		"lower case":        {[]string{"bearer correct-horse"}, 0, ""},
		"more spaces":       {[]string{" Bearer   correct-horse "}, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			caller, refused := checker.Check(t.Context(), c.values)
			if c.status == 0 {
				require.Nil(t, refused)
				require.Equal(t, "token", caller.Name)
				require.True(t, caller.MayAll())
				return
			}
			require.Equal(t, c.status, refused.Status)
			want := `Bearer realm="kitebase-mcp"`
			if c.code != "" { // RFC 6750 section 3.1: no code for a request that tried nothing
				want += `, error="` + c.code + `"`
			}
			require.Equal(t, want, refused.Challenge)
			require.Empty(t, caller.Key())
		})
	}
}

func TestNobodyIsAsked(t *testing.T) {
	checker := checkerOf(t, access.Config{})
	require.True(t, checker.Open())
	caller, refused := checker.Check(t.Context(), []string{"Bearer x"})
	require.Nil(t, refused)
	require.True(t, caller.May("anything"))
	require.True(t, checker.Still(caller))
	require.NoError(t, checker.Reach(t.Context()))
	_, called := access.From(access.With(t.Context(), caller))
	require.False(t, called)
	_, called = access.From(context.Background())
	require.False(t, called)
}

// All three at once; a name that two ways give is two callers.
func TestWaysTogether(t *testing.T) {
	issuer := startIssuer(t)
	path := filepath.Join(t.TempDir(), "tokens.json")
	token, grant := access.Mint(access.Grant{Name: "priya", ReadOnly: true})
	require.NoError(t, access.Add(path, grant, tools()))
	config := access.Config{Token: "correct-horse", TokensFile: path, Issuer: issuer.Name, Audience: audience}
	checker := checkerOf(t, config)
	keys := map[string]bool{}
	for _, each := range []string{"correct-horse", token, issuer.Sign("ES256", issuer.Claims(audience, "kitebase:read"))} {
		caller, refused := check(t, checker, each)
		require.Nil(t, refused)
		keys[caller.Key()] = true
		known, ok := access.From(access.With(t.Context(), caller))
		require.True(t, ok)
		require.Equal(t, caller.Name, known.Name)
	}
	require.Len(t, keys, 3)
	require.Equal(t, 1, checker.Granted())

	t.Run("an opaque token costs no fetch", func(t *testing.T) {
		before := issuer.Requests()
		_, refused := check(t, checker, "kb_unknown")
		require.Equal(t, 401, refused.Status)
		require.Contains(t, refused.Challenge, "resource_metadata=")
		require.Equal(t, before, issuer.Requests())
	})
	t.Run("the name token is taken", func(t *testing.T) {
		_, grant := access.Mint(access.Grant{Name: "token"})
		require.NoError(t, access.Add(path, grant, tools()))
		require.ErrorContains(t, config.Validate(), "the name token is that of --http-token; rename the entry")
	})
}

func TestValidate(t *testing.T) {
	dir := t.TempDir()
	broken := filepath.Join(dir, "broken.json")
	require.NoError(t, os.WriteFile(broken, []byte("{"), 0o600))
	large := filepath.Join(dir, "large.json")
	require.NoError(t, os.WriteFile(large, []byte(strings.Repeat(" ", 1<<20+1)), 0o600))
	for name, c := range map[string]struct {
		config access.Config
		says   string
	}{
		"token of two lines":       {access.Config{Token: "a\nb"}, "--http-token (KITEBASE_HTTP_TOKEN) takes printable ASCII"},
		"no such file":             {access.Config{TokensFile: filepath.Join(dir, "no")}, "there is no such file; make one with: kitebase-mcp token NAME --add FILE"},
		"a folder":                 {access.Config{TokensFile: dir}, "it is no file"},
		"a broken file":            {access.Config{TokensFile: broken}, "--http-tokens (KITEBASE_HTTP_TOKENS): " + broken + ": line 1: it is no JSON"},
		"a large file":             {access.Config{TokensFile: large}, "it has more than 1 MiB"},
		"an issuer alone":          {access.Config{Issuer: "https://login.example.com"}, "--oauth-issuer needs --oauth-audience (KITEBASE_OAUTH_AUDIENCE)"},
		"an audience alone":        {access.Config{Audience: audience}, "--oauth-audience needs --oauth-issuer (KITEBASE_OAUTH_ISSUER)"},
		"an issuer by http":        {access.Config{Issuer: "http://login.example.com", Audience: audience}, "--oauth-issuer (KITEBASE_OAUTH_ISSUER) takes a URL such as https://login.example.com: it must begin with https://"},
		"an issuer with a query":   {access.Config{Issuer: "https://login.example.com?a=b", Audience: audience}, "it holds a query or fragment"},
		"an issuer with a user":    {access.Config{Issuer: "https://priya:secret@login.example.com", Audience: audience}, "it holds a user name or password"},
		"an issuer that is a word": {access.Config{Issuer: "login", Audience: audience}, "it is no URL"},
		"an audience that is none": {access.Config{Issuer: "https://login.example.com", Audience: "urn:desk"}, "--oauth-audience (KITEBASE_OAUTH_AUDIENCE) takes the URL of this server"},
		"an audience with a quote": {access.Config{Issuer: "https://login.example.com", Audience: `https://desk".example.com`}, "it holds a character that no URL has"},
		"loopback by http":         {access.Config{Issuer: "http://127.0.0.1:9000", Audience: "http://localhost:8090/mcp"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := access.New(c.config)
			if c.says == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.says)
			require.NotContains(t, err.Error(), "secret")
		})
	}
}
