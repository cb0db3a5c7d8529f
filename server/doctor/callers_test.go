package doctor_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server"
	"github.com/kitebase/kitebase-mcp/server/access"
	"github.com/kitebase/kitebase-mcp/server/access/accesstest"
	"github.com/kitebase/kitebase-mcp/server/doctor"
	"github.com/kitebase/kitebase-mcp/server/web"
)

func TestCallers(t *testing.T) {
	issuer := accesstest.NewIssuer()
	login := httptest.NewServer(issuer)
	t.Cleanup(login.Close)
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
	issuer.Name = login.URL
	const audience = "https://desk.example.com/mcp"
	file := func(grants ...access.Grant) string {
		path := filepath.Join(t.TempDir(), "tokens.json")
		for _, grant := range grants {
			_, made := access.Mint(grant)
			require.NoError(t, access.Add(path, made, server.Rights()))
		}
		return path
	}
	broken := filepath.Join(t.TempDir(), "tokens.json")
	require.NoError(t, os.WriteFile(broken, []byte("{"), 0o600))
	past := time.Now().Add(-time.Hour)
	good, _ := access.Mint(access.Grant{Name: "good"})
	for name, c := range map[string]struct {
		config web.Config
		status doctor.Status
		found  string
		advice string
	}{
		"nobody is asked": {web.Config{}, doctor.OK, "Every program on this machine may call; no token is asked for.", ""},
		"all three ways": {web.Config{Token: good, TokensFile: file(access.Grant{Name: "priya"}, access.Grant{Name: "omar"}), OAuthIssuer: issuer.Name, OAuthAudience: audience},
			doctor.OK, "Clients are let in by the token of --http-token, or one of the 2 in the tokens file, or a JWT of the issuer, whose keys could be had.", ""},
		"a short token": {web.Config{Token: "tok-http"}, doctor.Warning, "The token of --http-token has 8 characters only, and could be guessed.", "kitebase-mcp token"},
		"expired tokens": {web.Config{TokensFile: file(access.Grant{Name: "priya", Expires: &past}, access.Grant{Name: "omar"})},
			doctor.Warning, "These tokens have expired: priya.", "remove the old entries"},
		"the issuer does not answer": {web.Config{OAuthIssuer: "http://127.0.0.1:1", OAuthAudience: audience},
			doctor.Warning, "The issuer's keys cannot be had: asking for the issuer's metadata: no answer:", "--oauth-issuer (KITEBASE_OAUTH_ISSUER)"},
		"the issuer has another name": {web.Config{OAuthIssuer: issuer.Name + "/", OAuthAudience: audience},
			doctor.Warning, "the issuer names itself with another slash at the end", "--oauth-issuer"},
		"a broken file": {web.Config{TokensFile: broken}, doctor.Skipped, "The settings have to be mended first.", ""},
	} {
		t.Run(name, func(t *testing.T) {
			c.config.Addr, c.config.Tools = "127.0.0.1:0", server.Rights()
			got := find(t, doctor.Config{Web: &c.config}, "callers")
			require.Equal(t, c.status, got.Status, got.Found)
			require.Contains(t, got.Found, c.found)
			require.Contains(t, got.Advice, c.advice)
			require.Equal(t, c.advice == "", got.Advice == "")
			require.NotContains(t, got.Found+got.Advice, good)
		})
	}
	for name, c := range map[string]struct {
		config web.Config
		found  string
	}{
		"a broken file":             {web.Config{TokensFile: broken}, "line 1: it is no JSON"},
		"an issuer and no audience": {web.Config{OAuthIssuer: issuer.Name}, "--oauth-issuer needs --oauth-audience (KITEBASE_OAUTH_AUDIENCE)"},
		"nothing on public":         {web.Config{Addr: "0.0.0.0:0"}, "--http-token, --http-tokens or --oauth-issuer"},
	} {
		t.Run("address: "+name, func(t *testing.T) {
			got := find(t, doctor.Config{Web: &c.config}, "address")
			require.Equal(t, doctor.Failed, got.Status)
			require.Contains(t, got.Found, c.found)
			require.NotEmpty(t, got.Advice)
		})
	}
}
