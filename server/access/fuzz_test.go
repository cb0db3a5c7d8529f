package access_test

import (
	"context"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server/access"
	"github.com/kitebase/kitebase-mcp/server/access/accesstest"
)

// FuzzParse: a file that is taken has what it says, and what is written from it is taken again; an error is one line.
func FuzzParse(f *testing.F) {
	f.Add(`{"tokens": [{"name": "priya", "sha256": "` + hash + `", "tools": ["look"], "read_only": true, "expires": "2027-01-31T00:00:00Z"}]}`)
	f.Add(`{"tokens": []}`)
	f.Add(`{"tokens": [{"name": "a", "name": "b"}]}`)
	f.Add(`{"tokens": [{"tools": null}`)
	f.Add("\xef\xbb\xbf[")
	f.Fuzz(func(t *testing.T, file string) {
		grants, err := access.Parse([]byte(file), tools())
		if err != nil {
			require.Nil(t, grants)
			require.False(t, strings.ContainsFunc(err.Error(), unicode.IsControl), "%q", err.Error())
			return
		}
		names, hashes := map[string]bool{}, map[string]bool{}
		for _, grant := range grants {
			require.NoError(t, grant.Check(tools()))
			names[grant.Name], hashes[strings.ToLower(grant.SHA256)] = true, true
		}
		require.Len(t, names, len(grants))
		require.Len(t, hashes, len(grants))
	})
}

// FuzzAuthorization: whatever the header is, only the one token is let in, by the one scheme.
func FuzzAuthorization(f *testing.F) {
	const token = "correct-horse"
	checker, err := access.New(access.Config{Token: token})
	require.NoError(f, err)
	for _, header := range []string{"Bearer " + token, "bearer  " + token + " ", "Bearer", "Basic " + token, "Bearer\t" + token, "Bearer a.b.c", ""} {
		f.Add(header)
	}
	f.Fuzz(func(t *testing.T, header string) {
		caller, refused := checker.Check(context.Background(), []string{header})
		words := strings.Fields(header)
		is := len(words) == 2 && strings.EqualFold(words[0], "bearer") && words[1] == token
		if refused == nil {
			require.True(t, is, "%q was let in", header)
			require.Equal(t, "token", caller.Name)
			return
		}
		require.Equal(t, 401, refused.Status)
		require.False(t, strings.ContainsFunc(refused.Challenge+refused.Reason, unicode.IsControl))
	})
}

// FuzzJWT: whatever the token is, only one that the issuer has signed for us is let in.
func FuzzJWT(f *testing.F) {
	issuer := accesstest.NewIssuer()
	checker, err := access.New(access.Config{Issuer: issuer.Name, Audience: audience, Transport: issuer, Tools: tools()})
	require.NoError(f, err)
	issued := map[string]bool{}
	for _, alg := range []string{"RS256", "ES256", "EdDSA"} {
		good := issuer.Sign(alg, issuer.Claims(audience, "kitebase:read"))
		issued[good] = true
		f.Add(good)
		f.Add(issuer.Sign(alg, issuer.Claims("https://other.example.com", "kitebase:read")))
	}
	f.Add("a.b.c")
	f.Add("..")
	f.Add("eyJhbGciOiJub25lIn0.e30.")
	f.Fuzz(func(t *testing.T, token string) {
		caller, refused := checker.Check(context.Background(), []string{"Bearer " + token})
		if refused == nil {
			require.True(t, issued[strings.Trim(token, " ")], "a token that was not issued was let in: %q", token)
			require.Equal(t, "priya", caller.Name)
			return
		}
		require.Contains(t, []int{401}, refused.Status)
		require.Empty(t, caller.Key())
	})
}
