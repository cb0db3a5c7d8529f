package access_test

import (
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server/access"
	"github.com/kitebase/kitebase-mcp/server/access/accesstest"
)

// roundTrip is a function that answers requests to the issuer.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// withKeys runs a test inside a bubble, where the issuer is asked without a network.
func withKeys(t *testing.T, name string, test func(t *testing.T, issuer *accesstest.Issuer, checker *access.Checker)) {
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			issuer := accesstest.NewIssuer()
			test(t, issuer, checkerOf(t, access.Config{Issuer: issuer.Name, Audience: audience, Transport: issuer}))
		})
	})
}

func TestKeys(t *testing.T) {
	good := func(issuer *accesstest.Issuer) string {
		return issuer.Sign("ES256", issuer.Claims(audience, "kitebase:write"))
	}
	status := func(t *testing.T, checker *access.Checker, token string) int {
		t.Helper()
		_, refused := check(t, checker, token)
		if refused == nil {
			return http.StatusOK
		}
		require.Equal(t, refused.Status == http.StatusServiceUnavailable, refused.RetryAfter > 0)
		return refused.Status
	}
	withKeys(t, "a rotated key is taken at the first token by it", func(t *testing.T, issuer *accesstest.Issuer, checker *access.Checker) {
		old := good(issuer)
		require.Equal(t, 200, status(t, checker, old))
		issuer.Rotate()
		time.Sleep(10 * time.Second)
		require.Equal(t, 200, status(t, checker, good(issuer)))
		require.Equal(t, 401, status(t, checker, old), "the issuer has withdrawn its key")
		require.Equal(t, 2, issuer.Fetches())
	})
	withKeys(t, "invented key ids make for one fetch in ten seconds", func(t *testing.T, issuer *accesstest.Issuer, checker *access.Checker) {
		require.Equal(t, 200, status(t, checker, good(issuer)))
		time.Sleep(10 * time.Second)
		for range 20 {
			invented := issuer.SignAs("ES256", issuer.Claims(audience, ""), map[string]any{"kid": rand(t)})
			require.Equal(t, 401, status(t, checker, invented))
			time.Sleep(time.Second - time.Nanosecond)
		}
		require.Equal(t, 3, issuer.Fetches())
	})
	withKeys(t, "what cannot be good anyway costs no fetch", func(t *testing.T, issuer *accesstest.Issuer, checker *access.Checker) {
		for name, token := range badClaims(issuer) {
			if !strings.Contains(name, "unknown key id") && name != "key id of another alg" && name != "nobody" {
				require.Equal(t, 401, status(t, checker, token), name)
			}
		}
		require.Zero(t, issuer.Requests())
	})
	// Hosts answer a 401 by repeating any call, and throw the token away.
	withKeys(t, "while keys cannot be had nobody is told 401", func(t *testing.T, issuer *accesstest.Issuer, checker *access.Checker) {
		issuer.Fail(500)
		for range 10 {
			_, refused := check(t, checker, good(issuer))
			require.Equal(t, 503, refused.Status)
			require.Equal(t, 10*time.Second, refused.RetryAfter)
			require.Equal(t, "The server cannot check the token now, because the keys of its issuer cannot be had. "+
				"Nothing was run. Wait 10 seconds, then try again.", refused.Text)
			require.Empty(t, refused.Challenge)
		}
		require.Equal(t, 2, issuer.Requests(), "two places of metadata, once")
		issuer.Fail(0)
		require.Equal(t, 503, status(t, checker, good(issuer)))
		time.Sleep(10 * time.Second)
		require.Equal(t, 200, status(t, checker, good(issuer)))
	})
	withKeys(t, "keys that are there are used for a day without the issuer", func(t *testing.T, issuer *accesstest.Issuer, checker *access.Checker) {
		require.Equal(t, 200, status(t, checker, good(issuer)))
		issuer.Fail(503)
		time.Sleep(24*time.Hour - time.Second)
		require.Equal(t, 200, status(t, checker, good(issuer)))
		unknown := issuer.SignAs("ES256", issuer.Claims(audience, ""), map[string]any{"kid": "new"})
		require.Equal(t, 503, status(t, checker, unknown), "it may be a new key")
		time.Sleep(time.Second)
		require.Equal(t, 503, status(t, checker, good(issuer)))
	})
	withKeys(t, "keys are asked for again each hour", func(t *testing.T, issuer *accesstest.Issuer, checker *access.Checker) {
		for range 3 {
			require.Equal(t, 200, status(t, checker, good(issuer)))
			time.Sleep(time.Hour)
		}
		require.Equal(t, 3, issuer.Fetches())
	})
	withKeys(t, "a caller ends with its token", func(t *testing.T, issuer *accesstest.Issuer, checker *access.Checker) {
		caller, refused := check(t, checker, good(issuer))
		require.Nil(t, refused)
		time.Sleep(5*time.Minute + 30*time.Second)
		require.True(t, checker.Still(caller))
		time.Sleep(time.Second)
		require.False(t, checker.Still(caller))
	})
	withKeys(t, "metadata of OpenID only", func(t *testing.T, issuer *accesstest.Issuer, checker *access.Checker) {
		issuer.OpenID = true
		require.Equal(t, 200, status(t, checker, good(issuer)))
	})
}

// Many at once while the first fetch hangs: one asks, all get the same answer, and it is given up.
func TestHungIssuer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		checker := checkerOf(t, access.Config{Issuer: "https://login.example.com", Audience: audience, Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			asked++
			<-r.Context().Done()
			return nil, r.Context().Err()
		})})
		issuer := accesstest.NewIssuer()
		token := issuer.Sign("EdDSA", issuer.Claims(audience, ""))
		began := time.Now()
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				_, refused := check(t, checker, token)
				require.Equal(t, 503, refused.Status)
			})
		}
		all.Wait()
		require.Equal(t, 5*time.Second, time.Since(began))
		require.LessOrEqual(t, asked, 3)
	})
}

// What an issuer may answer instead of what it should. None of it lets anybody in, and none of it is called a bad token.
func TestBrokenIssuers(t *testing.T) {
	const name = "https://login.example.com/tenant"
	document := func(issuer, keys string) string { return `{"issuer":"` + issuer + `","jwks_uri":"` + keys + `"}` }
	for says, c := range map[string]struct {
		metadata, keys string
		header         http.Header
		status         int
	}{
		"names another issuer":                    {metadata: document("https://evil.example", name+"/keys")},
		"another slash at the end":                {metadata: document(name+"/", name+"/keys")},
		"it must begin with https://":             {metadata: document(name, "http://login.example.com/keys")},
		"it is no URL":                            {metadata: document(name, "")},
		"not the JSON that it should be":          {metadata: "<html>"},
		"the answer is too large":                 {metadata: `"` + strings.Repeat("x", 1<<20) + `"`},
		"the answer has status 404":               {status: 404},
		"the answer has status 302":               {status: 302, header: http.Header{"Location": {"https://evil.example/"}}},
		"the issuer has no key that can be used":  {metadata: document(name, name+"/keys"), keys: `{"keys":[]}`},
		"issuer has no key that can be used":      {metadata: document(name, name+"/keys"), keys: `{"keys":[{"kty":"oct","k":"c2VjcmV0","kid":"ES256-1"}]}`},
		"asking for the issuer's keys: the answe": {metadata: document(name, name+"/keys"), keys: `{"keys":1}`},
		"has no key that can be used":             {metadata: document(name, name+"/keys"), keys: `{"keys":[{"kty":"EC","kid":"ES256-1"},{"kty":"new","kid":"x"}]}`},
	} {
		t.Run(says, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log strings.Builder
				checker := checkerOf(t, access.Config{
					Issuer: name, Audience: audience, Logger: slog.New(slog.NewTextHandler(&log, nil)),
					Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
						require.Equal(t, "login.example.com", r.URL.Host)
						text := c.metadata
						if r.URL.Path == "/tenant/keys" {
							text = c.keys
						}
						return answered(c.status, c.header, text), nil
					}),
				})
				issuer := accesstest.NewIssuer()
				issuer.Name = name
				_, refused := check(t, checker, issuer.Sign("ES256", issuer.Claims(audience, "kitebase:write")))
				require.Equal(t, 503, refused.Status)
				require.Contains(t, log.String(), says)
				require.ErrorContains(t, checker.Reach(t.Context()), says)
				require.NotContains(t, log.String(), "login.example.com/")
			})
		})
	}
	t.Run("no answer", func(t *testing.T) {
		checker := checkerOf(t, access.Config{Issuer: name, Audience: audience, Transport: roundTrip(func(*http.Request) (*http.Response, error) {
			return nil, errors.New("connection refused")
		})})
		require.EqualError(t, checker.Reach(t.Context()), "asking for the issuer's metadata: no answer: connection refused")
	})
}

// Where issuers publish their metadata, in the order in which it is looked for.
func TestDiscovery(t *testing.T) {
	for issuer, want := range map[string][]string{
		"https://login.example.com":  {"/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"},
		"https://login.example.com/": {"/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"},
		"https://login.example.com/a/b": {"/.well-known/oauth-authorization-server/a/b", "/a/b/.well-known/openid-configuration",
			"/.well-known/openid-configuration/a/b"},
	} {
		var asked []string
		checker := checkerOf(t, access.Config{Issuer: issuer, Audience: audience, Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			asked = append(asked, r.URL.Path)
			return answered(404, nil, ""), nil
		})})
		require.Error(t, checker.Reach(t.Context()))
		require.Equal(t, want, asked, issuer)
	}
}
