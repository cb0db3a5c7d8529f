package main_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/fakeapi"
	"github.com/kitebase/kitebase-mcp/server/access/accesstest"
)

const resource = "https://desk.example.com/mcp"

// makeToken lets the program make a token and add it to a file.
func makeToken(t *testing.T, file, name string, args ...string) string {
	t.Helper()
	end := start{args: append([]string{"token", name, "--add", file}, args...)}.run(t, "")
	require.Zero(t, end.code, end.stderr)
	token := regexp.MustCompile(`kb_[A-Za-z0-9_-]{43}`).FindString(end.stdout)
	require.NotEmpty(t, token)
	stored, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NotContains(t, string(stored), token)
	return token
}

// by lets a request come with another token.
func by(r *http.Request, token string) *http.Request {
	r.Header.Set("Authorization", "Bearer "+token)
	return r
}

func (s *site) listed(t *testing.T, token string) string {
	t.Helper()
	got := s.send(t, by(s.request(http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`), token))
	require.Equal(t, http.StatusOK, got.status, got.body)
	var names []string
	for _, match := range regexp.MustCompile(`"name":"([a-z_]+)"`).FindAllStringSubmatch(got.body, -1) {
		names = append(names, match[1])
	}
	return strings.Join(names, " ")
}

// TestTokensFile: what each token may, and what becomes of one that is taken out of the file, also of its open stream.
func TestTokensFile(t *testing.T) {
	t.Parallel()
	kitebase := startUpstream(t, fakeapi.Config{})
	file := filepath.Join(t.TempDir(), "tokens.json")
	priya, omar := makeToken(t, file, "priya"), makeToken(t, file, "omar", "--read-only", "--expires=90d")
	s := startSiteBy(t, kitebase.url, "--http-tokens="+file)
	reply := func(token string) *http.Request {
		return by(s.call(handshakeRevision, "reply_to_customer", updateReply), token)
	}
	require.Equal(t, five, s.listed(t, priya))
	require.Equal(t, "get_ticket search_help search_tickets", s.listed(t, omar))

	refused := s.send(t, reply(omar))
	require.Equal(t, http.StatusForbidden, refused.status)
	require.Equal(t, `Bearer realm="kitebase-mcp", error="insufficient_scope"`, refused.header.Get("WWW-Authenticate"))
	require.Contains(t, refused.body, "The token of this client gives no right to use reply_to_customer. Nothing was run.")
	require.Equal(t, http.StatusForbidden, s.send(t, by(s.call(statelessRevision, "assign_ticket", `{"ticket_id":"KITE-142","assignee":"priya"}`), omar)).status)
	require.Empty(t, kitebase.Requests(), "Kitebase heard of a call that was refused")

	require.Contains(t, s.send(t, by(s.call(handshakeRevision, "get_ticket", ticket142), omar)).result(t).text(), "Northwind Studio")
	require.False(t, s.send(t, reply(priya)).result(t).reply(t).AlreadySent)

	later := makeToken(t, file, "lena", "--tools=search_help")
	require.Eventually(t, func() bool {
		return s.send(t, by(s.request(http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"ping"}`), later)).status == http.StatusOK
	}, watchdog, 100*time.Millisecond, "a token that was added")
	require.Equal(t, "search_help", s.listed(t, later))

	stream := s.openStreamBy(priya)
	require.NoError(t, os.WriteFile(file, []byte(`{"tokens": []}`), 0o600))
	require.Eventually(t, func() bool { return s.send(t, reply(priya)).status == http.StatusUnauthorized }, watchdog, 100*time.Millisecond)
	require.Equal(t, http.StatusUnauthorized, s.send(t, by(s.request(http.MethodPost, stream.path, toolCall("get_ticket", ticket142)), priya)).status)
	require.Empty(t, stream.next(), "the stream ends with its token")
	require.Len(t, kitebase.emailsTo("KITE-142"), 1)
}

// TestOAuthOverHTTP: the way of a JWT through the whole program, and of those that are not for it.
func TestOAuthOverHTTP(t *testing.T) {
	t.Parallel()
	kitebase := startUpstream(t, fakeapi.Config{})
	issuer := accesstest.NewIssuer()
	login := httptest.NewServer(issuer)
	t.Cleanup(login.Close)
	issuer.Name = login.URL
	s := startSiteBy(t, kitebase.url, "--oauth-issuer="+issuer.Name, "--oauth-audience="+resource)
	token := func(audience, scope string) string { return issuer.Sign("RS256", issuer.Claims(audience, scope)) }
	const challenge = `resource_metadata="https://desk.example.com/.well-known/oauth-protected-resource/mcp"`
	reply := toolCall("reply_to_customer", updateReply)

	for name, c := range map[string]struct {
		token     string
		status    int
		challenge string
	}{
		"wrong audience":  {token("https://other.example.com/mcp", "kitebase:write"), 401, `error="invalid_token", ` + challenge},
		"unknown key id":  {issuer.SignAs("RS256", issuer.Claims(resource, "kitebase:write"), map[string]any{"kid": "x"}), 401, `error="invalid_token", ` + challenge},
		"garbage":         {"a.b.c", 401, `error="invalid_token", ` + challenge},
		"opaque":          {"kb_none", 401, `error="invalid_token", ` + challenge},
		"too little":      {token(resource, "kitebase:read"), 403, `error="insufficient_scope", scope="kitebase:read kitebase:write", ` + challenge},
		"another tool":    {token(resource, "kitebase:tool:assign_ticket"), 403, `error="insufficient_scope", scope="kitebase:tool:assign_ticket kitebase:write", ` + challenge},
		"no scope of our": {token(resource, "openid"), 403, `error="insufficient_scope", scope="kitebase:write", ` + challenge},
	} {
		t.Run(name, func(t *testing.T) {
			got := s.send(t, by(s.request(http.MethodPost, "/mcp", reply), c.token))
			require.Equal(t, c.status, got.status, got.body)
			require.Equal(t, `Bearer realm="kitebase-mcp", `+c.challenge, got.header.Get("WWW-Authenticate"))
			require.NotContains(t, got.body, issuer.Name)
			require.Contains(t, got.body, "Nothing was run.")
		})
	}
	require.Empty(t, kitebase.Requests(), "Kitebase heard of a call that was refused")

	metadata := s.request(http.MethodGet, "/.well-known/oauth-protected-resource/mcp", "")
	metadata.Header.Del("Authorization")
	require.Contains(t, s.send(t, metadata).body, `"authorization_servers":["`+issuer.Name+`"]`)
	require.False(t, s.send(t, by(s.request(http.MethodPost, "/mcp", reply), token(resource, "kitebase:write"))).result(t).reply(t).AlreadySent)
	require.Equal(t, "get_ticket search_help search_tickets", s.listed(t, token(resource, "kitebase:read")))
	require.Equal(t, []string{"rpl_001"}, kitebase.emailsTo("KITE-142"))
}

// TestToolsSettingOverHTTP: a tool that is not offered is there for nobody, whatever a token grants.
func TestToolsSettingOverHTTP(t *testing.T) {
	t.Parallel()
	kitebase := startUpstream(t, fakeapi.Config{})
	for offered, want := range map[string]string{
		"read-only":                   "get_ticket search_help search_tickets",
		"get_ticket,search_tickets":   "get_ticket search_tickets",
		"assign_ticket , search_help": "assign_ticket search_help",
	} {
		s := startSiteBy(t, kitebase.url, "--http-token=tok-http", "--tools="+offered)
		require.Equal(t, want, s.listed(t, "tok-http"))
		got := s.send(t, s.request(http.MethodPost, "/mcp", toolCall("reply_to_customer", updateReply)))
		require.Contains(t, got.body, `"error":{"code":-32602`)
	}
	require.Empty(t, kitebase.Requests())
}

// TestIssuerIsDownAtTheStart: the server starts, and says that it cannot tell rather than that the token is bad.
func TestIssuerIsDownAtTheStart(t *testing.T) {
	t.Parallel()
	kitebase := startUpstream(t, fakeapi.Config{})
	issuer := accesstest.NewIssuer()
	login := httptest.NewServer(issuer)
	issuer.Name = login.URL
	login.Close()
	s := startSiteBy(t, kitebase.url, "--oauth-issuer="+issuer.Name, "--oauth-audience="+resource, "--http-token=tok-http")
	jwt := issuer.Sign("EdDSA", issuer.Claims(resource, "kitebase:write"))
	got := s.send(t, by(s.request(http.MethodPost, "/mcp", toolCall("reply_to_customer", updateReply)), jwt))
	require.Equal(t, http.StatusServiceUnavailable, got.status, got.body)
	require.NotEmpty(t, got.header.Get("Retry-After"))
	require.Contains(t, got.body, "the keys of its issuer cannot be had. Nothing was run. Wait ")
	require.NotContains(t, got.body, issuer.Name)
	require.Empty(t, kitebase.Requests())
	require.Contains(t, s.send(t, s.call(handshakeRevision, "get_ticket", ticket142)).result(t).text(), "Northwind Studio")
}

// TestTheRepeatGuardTellsCallersApart: clients choose what they call their session, and two may choose alike.
func TestTheRepeatGuardTellsCallersApart(t *testing.T) {
	t.Parallel()
	kitebase := startUpstream(t, fakeapi.Config{})
	file := filepath.Join(t.TempDir(), "tokens.json")
	priya, omar := makeToken(t, file, "priya"), makeToken(t, file, "omar")
	s := startSiteBy(t, kitebase.url, "--http-tokens="+file)
	missing := func(token string) string {
		r := by(s.call(handshakeRevision, "get_ticket", `{"ticket_id":"KITE-412"}`), token)
		r.Header.Set("Mcp-Session-Id", "SAME")
		return s.send(t, r).result(t).text()
	}
	for range 2 {
		require.Contains(t, missing(omar), "Error: No ticket KITE-412.")
	}
	require.Contains(t, missing(omar), "Error: not run.")
	require.Contains(t, missing(priya), "Error: No ticket KITE-412.")
}
