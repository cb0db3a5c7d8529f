package access_test

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server/access"
	"github.com/kitebase/kitebase-mcp/server/access/accesstest"
)

// startIssuer starts an issuer on a socket.
func startIssuer(t *testing.T) *accesstest.Issuer {
	t.Helper()
	issuer := accesstest.NewIssuer()
	server := httptest.NewServer(issuer)
	t.Cleanup(server.Close)
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
	issuer.Name = server.URL
	return issuer
}

func checkerOf(t *testing.T, config access.Config) *access.Checker {
	t.Helper()
	config.Tools = tools()
	checker, err := access.New(config)
	require.NoError(t, err)
	return checker
}

func check(t *testing.T, checker *access.Checker, token string) (access.Caller, *access.Refusal) {
	t.Helper()
	return checker.Check(t.Context(), []string{"Bearer " + token})
}

// change returns good claims with some of them changed; nil takes one out.
func change(issuer *accesstest.Issuer, claims map[string]any) jwt.MapClaims {
	good := issuer.Claims(audience, "kitebase:write")
	for name, value := range claims {
		if good[name] = value; value == nil {
			delete(good, name)
		}
	}
	return good
}

func in(span time.Duration) int64 { return time.Now().Add(span).Unix() }

func TestGoodJWTs(t *testing.T) {
	issuer := startIssuer(t)
	checker := checkerOf(t, access.Config{Issuer: issuer.Name, Audience: audience})
	for name, c := range map[string]struct {
		alg    string
		claims map[string]any
		header map[string]any
		caller string
	}{
		"RS256":                      {"RS256", nil, nil, "priya"},
		"ES256":                      {"ES256", nil, nil, "priya"},
		"EdDSA":                      {"EdDSA", nil, nil, "priya"},
		"one of several audiences":   {"ES256", map[string]any{"aud": []string{"https://other.example.com", audience}}, nil, "priya"},
		"expired within the leeway":  {"ES256", map[string]any{"exp": in(-20 * time.Second)}, nil, "priya"},
		"from a clock that is ahead": {"ES256", map[string]any{"iat": in(20 * time.Second), "nbf": in(20 * time.Second)}, nil, "priya"},
		"typ of RFC 9068":            {"ES256", nil, map[string]any{"typ": "at+JWT"}, "priya"},
		"no typ":                     {"ES256", nil, map[string]any{"typ": nil}, "priya"},
		"of a client by itself":      {"ES256", map[string]any{"sub": nil}, nil, "desk-client"},
		"with azp":                   {"ES256", map[string]any{"sub": nil, "client_id": nil, "azp": "desk-app"}, nil, "desk-app"},
		"with a name to be cleaned":  {"ES256", map[string]any{"sub": "a\x1b[31m\nb\u200bc" + strings.Repeat("x", 200)}, nil, "a?[31m?b?c" + strings.Repeat("x", 88) + "…"},
	} {
		t.Run(name, func(t *testing.T) {
			caller, refused := check(t, checker, issuer.SignAs(c.alg, change(issuer, c.claims), c.header))
			require.Nil(t, refused)
			require.Equal(t, c.caller, caller.Name)
			require.True(t, caller.MayAll())
			require.Len(t, caller.Key(), 16)
			require.True(t, checker.Still(caller))
		})
	}
	require.Equal(t, 1, issuer.Fetches())
}

// forgeries are tokens that the issuer did not sign so.
func forgeries(t *testing.T, issuer *accesstest.Issuer) map[string]string {
	t.Helper()
	good := issuer.Sign("RS256", issuer.Claims(audience, "kitebase:write"))
	parts := strings.Split(good, ".")
	der, err := x509.MarshalPKIXPublicKey(issuer.Public("RS256"))
	require.NoError(t, err)
	hmacWith := func(secret []byte) string {
		token := jwt.NewWithClaims(jwt.SigningMethodHS256, issuer.Claims(audience, "kitebase:write"))
		token.Header["kid"] = issuer.KeyID("RS256")
		signed, err := token.SignedString(secret)
		require.NoError(t, err)
		return signed
	}
	none := jwt.NewWithClaims(jwt.SigningMethodNone, issuer.Claims(audience, "kitebase:write"))
	none.Header["kid"] = issuer.KeyID("RS256")
	unsigned, err := none.SignedString(jwt.UnsafeAllowNoneSignatureType)
	require.NoError(t, err)
	stranger := accesstest.NewIssuer()
	stranger.Name = issuer.Name
	raw := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	return map[string]string{
		"alg none":                           unsigned,
		"alg None":                           raw(`{"alg":"None","kid":"RS256-1"}`) + "." + parts[1] + ".",
		"HS256 with the public key as PEM":   hmacWith(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})),
		"HS256 with the public key as DER":   hmacWith(der),
		"signed by somebody else's key":      stranger.Sign("RS256", issuer.Claims(audience, "kitebase:write")),
		"other claims under the signature":   parts[0] + "." + raw(`{"iss":"x"}`) + "." + parts[2],
		"no signature":                       parts[0] + "." + parts[1] + ".",
		"signature of another alg":           raw(`{"alg":"ES256","kid":"RS256-1"}`) + "." + parts[1] + "." + parts[2],
		"header no JSON":                     raw(`{`) + "." + parts[1] + "." + parts[2],
		"alg no string":                      raw(`{"alg":1,"kid":"RS256-1"}`) + "." + parts[1] + "." + parts[2],
		"claims an array":                    parts[0] + "." + raw(`[]`) + "." + parts[2],
		"claims null":                        parts[0] + "." + raw(`null`) + "." + parts[2],
		"garbage":                            "a.b.c",
		"dots":                               "..",
		"four parts":                         good + ".x",
		"two parts":                          parts[0] + "." + parts[1],
		"opaque":                             "kb_abc",
		"huge":                               parts[0] + "." + parts[1] + "." + strings.Repeat("A", 20<<10),
		"signature with bits that are not 0": strings.TrimSuffix(good, good[len(good)-1:]) + string("BCDEFGHIJKLMNOP"[0]),
	}
}

// badClaims are what the issuer signed, for others or for other times.
func badClaims(issuer *accesstest.Issuer) map[string]string {
	sign := func(claims map[string]any) string { return issuer.Sign("ES256", change(issuer, claims)) }
	header := func(header map[string]any) string { return issuer.SignAs("ES256", change(issuer, nil), header) }
	return map[string]string{
		"wrong audience":           sign(map[string]any{"aud": "https://other.example.com/mcp"}),
		"audience with a slash":    sign(map[string]any{"aud": audience + "/"}),
		"other audiences":          sign(map[string]any{"aud": []string{"https://other.example.com", "https://desk.example.com"}}),
		"no audience":              sign(map[string]any{"aud": nil}),
		"audience a number":        sign(map[string]any{"aud": 1}),
		"wrong issuer":             sign(map[string]any{"iss": "https://evil.example"}),
		"issuer with a slash":      sign(map[string]any{"iss": issuer.Name + "/"}),
		"no issuer":                sign(map[string]any{"iss": nil}),
		"expired":                  sign(map[string]any{"exp": in(-time.Minute)}),
		"no exp":                   sign(map[string]any{"exp": nil}),
		"exp 0":                    sign(map[string]any{"exp": 0}),
		"exp a string":             sign(map[string]any{"exp": strconv.FormatInt(in(time.Minute), 10)}),
		"nbf a string":             sign(map[string]any{"nbf": strconv.FormatInt(in(-time.Minute), 10)}),
		"iat a string":             sign(map[string]any{"iat": strconv.FormatInt(in(-time.Minute), 10)}),
		"exp in capitals a string": sign(map[string]any{"exp": nil, "EXP": strconv.FormatInt(in(time.Minute), 10)}),
		"exp a list":               sign(map[string]any{"exp": []int64{in(time.Minute)}}),
		"exp a word":               sign(map[string]any{"exp": "never"}),
		"not yet valid":            sign(map[string]any{"nbf": in(time.Minute)}),
		"issued in the future":     sign(map[string]any{"iat": in(time.Hour)}),
		"good, but huge":           sign(map[string]any{"pad": strings.Repeat("x", 20<<10)}),
		"nobody":                   sign(map[string]any{"sub": nil, "client_id": nil}),
		"scope a number":           sign(map[string]any{"scope": 7}),
		"no key id":                header(map[string]any{"kid": nil}),
		"empty key id":             header(map[string]any{"kid": ""}),
		"key id a number":          header(map[string]any{"kid": 7}),
		"unknown key id":           header(map[string]any{"kid": "another"}),
		"key id of another alg":    header(map[string]any{"kid": issuer.KeyID("EdDSA")}),
		"logout token":             header(map[string]any{"typ": "logout+jwt"}),
		"typ a number":             header(map[string]any{"typ": 1}),
		"crit":                     header(map[string]any{"crit": []string{"b64"}}),
		"unknown key id, too long": header(map[string]any{"kid": strings.Repeat("k", 300)}),
	}
}

func TestBadJWTs(t *testing.T) {
	issuer := startIssuer(t)
	var log strings.Builder
	checker := checkerOf(t, access.Config{Issuer: issuer.Name, Audience: audience, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	tokens := forgeries(t, issuer)
	for name, token := range badClaims(issuer) {
		tokens[name] = token
	}
	for name, token := range tokens {
		t.Run(name, func(t *testing.T) {
			caller, refused := check(t, checker, token)
			require.NotNil(t, refused)
			require.Equal(t, http.StatusUnauthorized, refused.Status)
			require.Equal(t, `Bearer realm="kitebase-mcp", error="invalid_token", `+
				`resource_metadata="https://desk.example.com/.well-known/oauth-protected-resource/mcp"`, refused.Challenge)
			require.NotEmpty(t, refused.Reason)
			require.NotContains(t, refused.Text+refused.Reason, issuer.Name)
			require.Empty(t, caller.Name)
			require.NotContains(t, log.String(), token)
		})
	}
	require.LessOrEqual(t, issuer.Fetches(), 2, "unknown key ids make for one fetch more, and no storm")
}

func TestReasons(t *testing.T) {
	issuer := startIssuer(t)
	checker := checkerOf(t, access.Config{Issuer: issuer.Name, Audience: audience})
	tokens := badClaims(issuer)
	for name, want := range map[string]string{
		"wrong audience": "JWT: has invalid audience", "expired": "JWT: is expired", "not yet valid": "JWT: is not valid yet",
		"wrong issuer": "JWT: has invalid issuer", "no exp": "JWT: is missing required claim", "exp a string": "JWT: exp, nbf or iat is no number", "unknown key id": "JWT: unknown key id",
		"no key id": "JWT: no key id", "crit": "JWT: crit names what is not understood", "key id of another alg": "JWT: it cannot be checked",
	} {
		_, refused := check(t, checker, tokens[name])
		require.Equal(t, want, refused.Reason, name)
	}
}

// A client that names itself like a person is not that person.
func TestKeysOfClaims(t *testing.T) {
	issuer := startIssuer(t)
	path := filepath.Join(t.TempDir(), "tokens.json")
	fromFile, grant := access.Mint(access.Grant{Name: "priya"})
	require.NoError(t, access.Add(path, grant, tools()))
	checker := checkerOf(t, access.Config{Issuer: issuer.Name, Audience: audience, TokensFile: path})
	sign := func(claims map[string]any) string { return issuer.Sign("ES256", change(issuer, claims)) }
	keys := map[string]string{}
	for name, token := range map[string]string{
		"sub":       sign(map[string]any{"sub": "priya"}),
		"client_id": sign(map[string]any{"sub": nil, "client_id": "priya"}),
		"azp":       sign(map[string]any{"sub": nil, "client_id": nil, "azp": "priya"}),
		"file":      fromFile,
	} {
		caller, refused := check(t, checker, token)
		require.Nil(t, refused)
		require.Equal(t, "priya", caller.Name)
		require.NotContains(t, keys, caller.Key(), name)
		keys[caller.Key()] = name
	}
}

// An entry of the file may be called as the caller of the settings' token is where there is none.
func TestKeysOfTokens(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens.json")
	token, grant := access.Mint(access.Grant{Name: "token"})
	require.NoError(t, access.Add(path, grant, tools()))
	fromFile, refused := check(t, checkerOf(t, access.Config{TokensFile: path}), token)
	require.Nil(t, refused)
	single, refused := check(t, checkerOf(t, access.Config{Token: token}), token)
	require.Nil(t, refused)
	require.Equal(t, single.Name, fromFile.Name)
	require.NotEqual(t, single.Key(), fromFile.Key())
}

func TestScopes(t *testing.T) {
	issuer := startIssuer(t)
	checker := checkerOf(t, access.Config{Issuer: issuer.Name, Audience: audience})
	for name, c := range map[string]struct {
		claims map[string]any
		may    []string
		asked  string // by the challenge for send
	}{
		"read":            {map[string]any{"scope": "kitebase:read"}, []string{"look", "find"}, "kitebase:read kitebase:write"},
		"write":           {map[string]any{"scope": "openid kitebase:write"}, []string{"look", "find", "set", "send", "…"}, "kitebase:write"},
		"one tool":        {map[string]any{"scope": "kitebase:tool:set"}, []string{"set"}, "kitebase:tool:set kitebase:write"},
		"read and one":    {map[string]any{"scope": "kitebase:tool:send kitebase:read"}, []string{"look", "find", "send"}, "kitebase:tool:send kitebase:read kitebase:write"},
		"unknown tool":    {map[string]any{"scope": "kitebase:tool:other"}, nil, "kitebase:write"},
		"array":           {map[string]any{"scope": []string{"kitebase:read"}}, []string{"look", "find"}, "kitebase:read kitebase:write"},
		"scp, an array":   {map[string]any{"scope": nil, "scp": []string{"kitebase:tool:look"}}, []string{"look"}, "kitebase:tool:look kitebase:write"},
		"scp, a string":   {map[string]any{"scope": nil, "scp": "kitebase:tool:look kitebase:tool:set"}, []string{"look", "set"}, "kitebase:tool:look kitebase:tool:set kitebase:write"},
		"none":            {map[string]any{"scope": nil}, nil, "kitebase:write"},
		"another's":       {map[string]any{"scope": "admin kitebase kitebase: Kitebase:write kitebase:write2"}, nil, "kitebase:write"},
		"one, and a lure": {map[string]any{"scope": "kitebase:tool: kitebase:tool:look,set"}, nil, "kitebase:write"},
	} {
		t.Run(name, func(t *testing.T) {
			caller, refused := check(t, checker, issuer.Sign("ES256", change(issuer, c.claims)))
			require.Nil(t, refused)
			require.Equal(t, c.may, may(caller))
			forbidden := checker.Forbid(caller, "send")
			require.Equal(t, http.StatusForbidden, forbidden.Status)
			require.Equal(t, `Bearer realm="kitebase-mcp", error="insufficient_scope", scope="`+c.asked+
				`", resource_metadata="https://desk.example.com/.well-known/oauth-protected-resource/mcp"`, forbidden.Challenge)
		})
	}
}
