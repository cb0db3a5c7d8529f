package doctor_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
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
	empty := filepath.Join(t.TempDir(), "tokens.json")
	require.NoError(t, os.WriteFile(empty, []byte(`{"tokens": []}`), 0o600))
	answering := func(status int, body string) (url string) { // an issuer that always answers the same
		var server *httptest.Server
		server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", issuer.Name)
			w.WriteHeader(status)
			_, _ = w.Write([]byte(strings.ReplaceAll(body, "SELF", server.URL)))
		}))
		t.Cleanup(server.Close)
		return server.URL
	}
	const only = "until then every call with a good JWT is answered with 503"
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
		"a short token":            {web.Config{Token: "tok-http"}, doctor.Warning, "The token of --http-token has only 8 characters, and could be guessed.", "kitebase-mcp token"},
		"a token of one character": {web.Config{Token: "t"}, doctor.Warning, "The token of --http-token has only 1 character, and could be guessed.", "kitebase-mcp token"},
		"expired tokens": {web.Config{TokensFile: file(access.Grant{Name: "priya", Expires: &past}, access.Grant{Name: "omar"})},
			doctor.Warning, "These tokens have expired: priya.", "remove the old entries"},
		"the issuer does not answer": {web.Config{OAuthIssuer: "http://127.0.0.1:1", OAuthAudience: audience},
			doctor.Failed, "The issuer's keys cannot be had: asking for the issuer's metadata: no answer:", only},
		"the issuer does not answer, but there is a token": {web.Config{Token: good, OAuthIssuer: "http://127.0.0.1:1", OAuthAudience: audience},
			doctor.Warning, "The issuer's keys cannot be had: asking for the issuer's metadata: no answer:", "tokens by the other ways go on working"},
		"the issuer does not answer, and all tokens have expired": {
			web.Config{TokensFile: file(access.Grant{Name: "priya", Expires: &past}), OAuthIssuer: "http://127.0.0.1:1", OAuthAudience: audience},
			doctor.Failed, "There is no other way in.", only},
		"the issuer is in trouble": {web.Config{OAuthIssuer: answering(500, ""), OAuthAudience: audience},
			doctor.Failed, "the answer has status 500", only},
		"the issuer redirects": {web.Config{OAuthIssuer: answering(302, ""), OAuthAudience: audience},
			doctor.Failed, "the answer has status 302", only},
		"the issuer has no keys": {web.Config{OAuthIssuer: answering(200, `{"issuer": "SELF", "jwks_uri": "SELF/keys", "keys": []}`), OAuthAudience: audience},
			doctor.Failed, "the issuer has no key that can be used", only},
		"another issuer": {web.Config{OAuthIssuer: answering(200, `{"issuer": "https://other.example"}`), OAuthAudience: audience},
			doctor.Failed, "the issuer's metadata names another issuer", only},
		"the issuer has another name": {web.Config{OAuthIssuer: issuer.Name + "/", OAuthAudience: audience},
			doctor.Failed, "the issuer names itself with another slash at the end", only},
		"no token in the file":                   {web.Config{TokensFile: empty}, doctor.Failed, "Nobody can call: the tokens file has no token.", "kitebase-mcp token NAME --add FILE"},
		"no token in the file, but there is one": {web.Config{TokensFile: empty, Token: good}, doctor.Warning, "The tokens file has no token: nobody comes in by it.", "kitebase-mcp token"},
		"only expired tokens": {web.Config{TokensFile: file(access.Grant{Name: "priya", Expires: &past}, access.Grant{Name: "omar", Expires: &past})},
			doctor.Failed, "Nobody can call: all tokens of the file have expired: priya, omar.", "kitebase-mcp token NAME --add FILE"},
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
