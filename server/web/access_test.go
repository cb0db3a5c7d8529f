package web_test

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	mcpserver "github.com/mark3labs/mcp-go/server"
	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server/access"
	"github.com/kitebase/kitebase-mcp/server/access/accesstest"
	"github.com/kitebase/kitebase-mcp/server/web"
)

const audience = "https://desk.example.com/mcp"

// rights are the tools of a desk as access knows them.
func rights() []access.Tool {
	return []access.Tool{{Name: "echo", Reads: true}, {Name: "hang"}, {Name: "progress", Reads: true}}
}

// keyring is a tokens file.
type keyring struct {
	path   string
	tokens map[string]string
	grants map[string]access.Grant
}

// newKeyring has priya, who may everything, omar, who may read, and a scraper, which may nothing.
func newKeyring(t *testing.T) *keyring {
	t.Helper()
	k := &keyring{filepath.Join(t.TempDir(), "tokens.json"), map[string]string{}, map[string]access.Grant{}}
	for _, grant := range []access.Grant{{Name: "priya"}, {Name: "omar", ReadOnly: true}, {Name: "scraper", Tools: &[]string{}}} {
		token, made := access.Mint(grant)
		k.tokens[grant.Name], k.grants[grant.Name] = token, made
	}
	k.write(t, "priya", "omar", "scraper")
	return k
}

func (k *keyring) write(t *testing.T, names ...string) {
	t.Helper()
	all := []access.Grant{}
	for _, name := range names {
		all = append(all, k.grants[name])
	}
	data, err := json.Marshal(map[string]any{"tokens": all})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(k.path, data, 0o600))
}

func (k *keyring) of(name string) []string {
	return []string{"Authorization", "Bearer " + cmp.Or(k.tokens[name], name)}
}

const readOnlyList = `[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}},` +
	`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"hang"}}]`

// Rights are checked on every way in, before anything runs.
func TestRights(t *testing.T) {
	keys := newKeyring(t)
	d := openDesk(t, web.Config{TokensFile: keys.path, Tools: rights()})
	ways := func(t *testing.T, name, tool string) map[string]*http.Response {
		session := openSSE(t, d, keys.of(name)...)
		modern := append(keys.of(name), "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", tool)
		return map[string]*http.Response{
			"streamable": d.do(t, "POST", "/mcp", toolCall("7", tool), keys.of(name)...),
			"2026-07-28": d.do(t, "POST", "/mcp", strings.Replace(toolCall("7", tool), `"params":{`, `"params":{"_meta":{`+
				`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}},`, 1), modern...),
			"batch": d.do(t, "POST", "/mcp", "["+toolCall("7", tool)+"]", keys.of(name)...),
			"sse":   session.post(t, toolCall("7", tool), keys.of(name)...),
		}
	}
	for name, tools := range map[string][]string{"omar": {"hang", "late panic", "no such"}, "scraper": {"echo", "hang"}} {
		for _, tool := range tools {
			for way, r := range ways(t, name, tool) {
				t.Run(name+" may not use "+tool+"/"+way, func(t *testing.T) {
					require.Equal(t, 403, r.StatusCode)
					require.Equal(t, `Bearer realm="kitebase-mcp", error="insufficient_scope"`, r.Header.Get("WWW-Authenticate"))
					body := answer(t, r)
					require.Contains(t, body, "The token of this client gives no right to use ")
					require.Contains(t, body, "Nothing was run.")
					require.NotContains(t, body, "no such")
					if way != "batch" {
						require.Contains(t, body, `"id":7`)
					}
				})
			}
		}
	}
	// Two ways of reading the same bytes could differ in what they take the name to be.
	for name, body := range map[string]string{
		"one of a batch":       readOnlyList,
		"two names":            `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","name":"hang"}}`,
		"a name in capitals":   `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","NAME":"hang"}}`,
		"two params":           `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"},"Params":{"name":"hang"}}`,
		"two params, no name":  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hang"},"params":{"arguments":{}}}`,
		"two methods":          `{"jsonrpc":"2.0","id":1,"method":"ping","METHOD":"tools/call","params":{"name":"hang"}}`,
		"params are no object": `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":["hang"]}`,
		"a notification":       `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"hang"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			r := d.do(t, "POST", "/mcp", body, keys.of("omar")...)
			require.Contains(t, []int{400, 403}, r.StatusCode, answer(t, r))
		})
	}
	require.Zero(t, d.runs.Load(), "a refused call ran a tool")
	for _, token := range keys.tokens {
		require.NotContains(t, d.log.String(), token)
	}
	require.Contains(t, d.log.String(), `reason="no right to the tool (caller \"omar\")"`)

	t.Run("what they may", func(t *testing.T) {
		for _, name := range []string{"priya", "omar"} {
			require.Contains(t, answer(t, d.do(t, "POST", "/mcp", toolCall("1", "echo"), keys.of(name)...)), `"text":"echo"`)
		}
		require.Contains(t, answer(t, d.do(t, "POST", "/mcp", toolCall("1", "broken"), keys.of("priya")...)), `"error"`, "not one of those with rights")
	})
}

func TestListShowsWhatMayBeUsed(t *testing.T) {
	keys := newKeyring(t)
	hooks := new(mcpserver.Hooks)
	hooks.AddAfterListTools(web.Permitted)
	d := openDeskWith(t, web.Config{TokensFile: keys.path, Tools: rights()}, mcpserver.WithHooks(hooks))
	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	for name, want := range map[string][]string{
		"priya": {"broken", "echo", "hang", "late panic", "panic", "progress", "stubborn"}, "omar": {"echo", "progress"}, "scraper": {},
	} {
		session := openSSE(t, d, keys.of(name)...)
		require.Equal(t, 202, session.post(t, list, keys.of(name)...).StatusCode)
		for way, text := range map[string]string{
			"streamable": answer(t, d.do(t, "POST", "/mcp", list, keys.of(name)...)),
			"batch":      strings.Trim(answer(t, d.do(t, "POST", "/mcp", "["+list+"]", keys.of(name)...)), "[]"),
			"sse":        session.next(t),
		} {
			var got struct {
				Result struct{ Tools []struct{ Name string } }
			}
			require.NoError(t, json.Unmarshal([]byte(strings.TrimSuffix(strings.TrimPrefix(text, "["), "]")), &got), text)
			names := []string{}
			for _, tool := range got.Result.Tools {
				names = append(names, tool.Name)
			}
			require.Equal(t, want, names, "%s %s", name, way)
		}
	}
}

// A session belongs to who opened it, also when its id is known to others.
func TestForeignSession(t *testing.T) {
	keys := newKeyring(t)
	d := openDesk(t, web.Config{TokensFile: keys.path, Token: "correct-horse", Tools: rights()})
	session := openSSE(t, d, keys.of("priya")...)
	for _, other := range []string{"omar", "correct-horse"} {
		r := session.post(t, toolCall("1", "echo"), keys.of(other)...)
		require.Equal(t, 404, r.StatusCode)
		require.Contains(t, answer(t, r), "There is no such session.")
		require.Equal(t, 404, session.post(t, cancelled("1"), keys.of(other)...).StatusCode)
	}
	require.Zero(t, d.runs.Load())
	require.Equal(t, 202, session.post(t, toolCall("1", "echo"), keys.of("priya")...).StatusCode)
	require.Contains(t, session.next(t), `"text":"echo"`)
}

// What a token opened ends with it: at the next message, and at the next keep-alive if none comes.
func TestRemovedToken(t *testing.T) {
	for name, provoke := range map[string]func(t *testing.T, d *desk, keys *keyring, session *sse){
		"at its next message": func(t *testing.T, _ *desk, keys *keyring, session *sse) {
			require.Eventually(t, func() bool {
				return session.post(t, toolCall("1", "echo"), keys.of("omar")...).StatusCode == 401
			}, patience, 100*time.Millisecond)
		},
		"at the next keep-alive": func(*testing.T, *desk, *keyring, *sse) {},
	} {
		t.Run(name, func(t *testing.T) {
			keys := newKeyring(t)
			keepAlive := time.Hour
			if name == "at the next keep-alive" {
				keepAlive = 100 * time.Millisecond
			}
			d := openDesk(t, web.Config{TokensFile: keys.path, Tools: rights(), KeepAlive: keepAlive})
			kept := openSSE(t, d, keys.of("priya")...)
			session := openSSE(t, d, keys.of("omar")...)
			keys.write(t, "priya", "scraper")
			provoke(t, d, keys, session)
			for line := session.next(t); line != ""; line = session.next(t) {
				require.True(t, strings.HasPrefix(line, ":") || strings.Contains(line, `"text":"echo"`), line)
			}
			require.Contains(t, d.log.String(), `reason="the token of the stream is no longer good"`)
			require.Equal(t, 401, d.do(t, "POST", "/mcp", toolCall("1", "echo"), keys.of("omar")...).StatusCode)
			require.Equal(t, 202, kept.post(t, toolCall("2", "echo"), keys.of("priya")...).StatusCode)
		})
	}
}

// A client that got a new token goes on with its session.
func TestRenewedToken(t *testing.T) {
	keys := newKeyring(t)
	d := openDesk(t, web.Config{TokensFile: keys.path, Tools: rights()})
	session := openSSE(t, d, keys.of("omar")...)
	token, grant := access.Mint(access.Grant{Name: "omar"})
	keys.tokens["omar"], keys.grants["omar"] = token, grant
	keys.write(t, "priya", "omar")
	require.Eventually(t, func() bool {
		return d.do(t, "POST", "/mcp", toolCall("1", "echo"), keys.of("omar")...).StatusCode == 200
	}, patience, 100*time.Millisecond)
	r := session.post(t, toolCall("1", "echo"), keys.of("omar")...)
	require.Equal(t, 202, r.StatusCode)
	require.Contains(t, session.next(t), `"text":"echo"`)
}

func openOAuthDesk(t *testing.T, cfg web.Config) (*desk, *accesstest.Issuer) {
	t.Helper()
	issuer := accesstest.NewIssuer()
	server := httptest.NewServer(issuer)
	t.Cleanup(server.Close)
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
	issuer.Name = server.URL
	cfg.OAuthIssuer, cfg.OAuthAudience, cfg.Tools = issuer.Name, audience, rights()
	return openDesk(t, cfg), issuer
}

func TestOAuth(t *testing.T) {
	d, issuer := openOAuthDesk(t, web.Config{})
	call := func(scope, tool string) *http.Response {
		return d.do(t, "POST", "/mcp", toolCall("1", tool), "Authorization", "Bearer "+issuer.Sign("RS256", issuer.Claims(audience, scope)))
	}
	const metadata = `resource_metadata="https://desk.example.com/.well-known/oauth-protected-resource/mcp"`
	t.Run("refused", func(t *testing.T) {
		r := d.do(t, "POST", "/mcp", toolCall("1", "echo"))
		require.Equal(t, 401, r.StatusCode)
		require.Equal(t, `Bearer realm="kitebase-mcp", `+metadata, r.Header.Get("WWW-Authenticate"))
		r = call("openid", "echo")
		require.Equal(t, 403, r.StatusCode)
		require.Equal(t, `Bearer realm="kitebase-mcp", error="insufficient_scope", scope="kitebase:read", `+metadata, r.Header.Get("WWW-Authenticate"))
		require.Equal(t, 403, call("kitebase:tool:echo", "hang").StatusCode)
		other := issuer.Sign("RS256", issuer.Claims("https://other.example.com/mcp", "kitebase:write"))
		r = d.do(t, "POST", "/mcp", toolCall("1", "echo"), "Authorization", "Bearer "+other)
		require.Equal(t, 401, r.StatusCode)
		require.Equal(t, `Bearer realm="kitebase-mcp", error="invalid_token", `+metadata, r.Header.Get("WWW-Authenticate"))
		require.NotContains(t, answer(t, r), issuer.Name)
		require.Contains(t, d.log.String(), `reason="JWT: has invalid audience"`)
		require.NotContains(t, d.log.String(), other)
		require.Zero(t, d.runs.Load())
	})
	t.Run("let in", func(t *testing.T) {
		for _, scope := range []string{"kitebase:read", "kitebase:write", "kitebase:tool:echo"} {
			require.Equal(t, 200, call(scope, "echo").StatusCode)
		}
	})
	t.Run("metadata", func(t *testing.T) {
		for _, path := range []string{"/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"} {
			r := d.do(t, "GET", path, "", "Host", "desk.example.com", "Origin", "https://client.example")
			require.Equal(t, 200, r.StatusCode)
			require.Equal(t, "*", r.Header.Get("Access-Control-Allow-Origin"))
			require.JSONEq(t, `{"resource":"`+audience+`","authorization_servers":["`+issuer.Name+`"],`+
				`"scopes_supported":["kitebase:read","kitebase:write"],"bearer_methods_supported":["header"],"resource_name":"Kitebase help desk"}`, answer(t, r))
		}
		require.Equal(t, mcpserver.ProtectedResourceMetadataPath(audience), "/.well-known/oauth-protected-resource/mcp")
		require.Equal(t, 401, d.do(t, "GET", "/.well-known/oauth-protected-resource/other", "").StatusCode)
		require.Equal(t, 404, openDesk(t, web.Config{}).do(t, "GET", "/.well-known/oauth-protected-resource", "").StatusCode)
	})
}

// A host answers a 401 by repeating any call; while nobody can say whether a token is good, it is told to wait.
func TestIssuerIsDown(t *testing.T) {
	d, issuer := openOAuthDesk(t, web.Config{Token: "correct-horse"})
	issuer.Fail(500)
	r := d.do(t, "POST", "/mcp", toolCall("1", "echo"), "Authorization", "Bearer "+issuer.Sign("ES256", issuer.Claims(audience, "kitebase:write")))
	require.Equal(t, 503, r.StatusCode)
	require.NotEmpty(t, r.Header.Get("Retry-After"))
	require.Empty(t, r.Header.Get("WWW-Authenticate"))
	require.Contains(t, answer(t, r), "The server cannot check the token now")
	require.Zero(t, d.runs.Load())
	require.Equal(t, 200, d.do(t, "POST", "/mcp", toolCall("1", "echo"), "Authorization", "Bearer correct-horse").StatusCode)
	require.Equal(t, 200, d.do(t, "GET", "/readyz", "").StatusCode)
}

// The caller is in the context of every message.
func TestCallerIsKnown(t *testing.T) {
	keys := newKeyring(t)
	names := make(chan string, 10)
	d := openDesk(t, web.Config{TokensFile: keys.path, Tools: rights(), Context: func(ctx context.Context, _ time.Time) context.Context {
		caller, _ := access.From(ctx)
		names <- caller.Name
		return ctx
	}})
	session := openSSE(t, d, keys.of("omar")...)
	session.post(t, toolCall("1", "echo"), keys.of("omar")...)
	require.Equal(t, "omar", <-names)
	d.do(t, "POST", "/mcp", toolCall("1", "echo"), keys.of("priya")...)
	require.Equal(t, "priya", <-names)
}

func TestServeNeedsOneOfThree(t *testing.T) {
	keys := newKeyring(t)
	for name, cfg := range map[string]web.Config{
		"a token": {Token: "t"}, "a file": {TokensFile: keys.path, Tools: rights()},
		"an issuer": {OAuthIssuer: "https://login.example.com", OAuthAudience: audience},
	} {
		cfg.Addr = ":8090"
		require.NoError(t, cfg.Validate(), name)
	}
	err := web.Config{Addr: "0.0.0.0:8090"}.Validate()
	for _, flag := range []string{"--http-token", "--http-tokens", "--oauth-issuer"} {
		require.ErrorContains(t, err, flag)
	}
}

// A client by itself that is called like a person cannot use the person's session, nor the other way round.
func TestSessionOfAnotherClaim(t *testing.T) {
	d, issuer := openOAuthDesk(t, web.Config{})
	bearer := func(claims map[string]any) []string {
		all := issuer.Claims(audience, "kitebase:write")
		for _, claim := range []string{"sub", "client_id", "azp"} {
			if all[claim] = claims[claim]; all[claim] == nil {
				delete(all, claim)
			}
		}
		return []string{"Authorization", "Bearer " + issuer.Sign("ES256", all)}
	}
	callers := map[string][]string{
		"sub": bearer(map[string]any{"sub": "priya"}), "client_id": bearer(map[string]any{"client_id": "priya"}), "azp": bearer(map[string]any{"azp": "priya"}),
	}
	for owner, owners := range callers {
		session := openSSE(t, d, owners...)
		for other, others := range callers {
			if other != owner {
				require.Equal(t, 404, session.post(t, toolCall("1", "echo"), others...).StatusCode, "%s in the session of %s", other, owner)
			}
		}
		require.Equal(t, 202, session.post(t, toolCall("1", "echo"), owners...).StatusCode)
		require.Contains(t, session.next(t), `"text":"echo"`)
	}
}
