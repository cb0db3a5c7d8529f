package access_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server/access"
)

// A tokensFile is a file with tokens, and a checker that uses it, inside a bubble: a second passes when the test says so.
type tokensFile struct {
	t       *testing.T
	path    string
	log     strings.Builder
	checker *access.Checker
	tokens  map[string]string // by name
	hashes  map[string]string
}

func withFile(t *testing.T, name string, test func(t *testing.T, f *tokensFile)) {
	t.Run(name, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "tokens.json")
		synctest.Test(t, func(t *testing.T) {
			f := &tokensFile{t: t, path: path, tokens: map[string]string{}, hashes: map[string]string{}}
			for _, name := range []string{"priya", "omar"} {
				token, grant := access.Mint(access.Grant{Name: name})
				f.tokens[name], f.hashes[name] = token, grant.SHA256
			}
			f.write(f.entries("priya", "omar"))
			f.checker = checkerOf(t, access.Config{TokensFile: path, Logger: slog.New(slog.NewTextHandler(&f.log, nil))})
			test(t, f)
		})
	})
}

func (f *tokensFile) entries(names ...string) string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = `{"name": "` + name + `", "sha256": "` + f.hashes[name] + `"}`
	}
	return `{"tokens": [` + strings.Join(all, ", ") + "]}"
}

func (f *tokensFile) write(text string) {
	f.t.Helper()
	require.NoError(f.t, os.WriteFile(f.path, []byte(text), 0o600))
}

// admitted returns who is let in, a second later.
func (f *tokensFile) admitted() (names []string) {
	f.t.Helper()
	time.Sleep(time.Second)
	for _, name := range []string{"priya", "omar"} {
		if caller, refused := check(f.t, f.checker, f.tokens[name]); refused == nil {
			require.Equal(f.t, name, caller.Name)
			names = append(names, name)
		}
	}
	return names
}

func (f *tokensFile) errors() int { return strings.Count(f.log.String(), "level=ERROR") }

func TestTokensFileIsReadAgain(t *testing.T) {
	withFile(t, "written over", func(t *testing.T, f *tokensFile) {
		priya, refused := check(t, f.checker, f.tokens["priya"])
		require.Nil(t, refused)
		f.write(f.entries("omar"))
		require.True(t, f.checker.Still(priya), "it was looked at just now")
		require.Equal(t, []string{"omar"}, f.admitted())
		require.False(t, f.checker.Still(priya))
		f.write(f.entries("priya"))
		require.Equal(t, []string{"priya"}, f.admitted())
		require.True(t, f.checker.Still(priya))
	})
	withFile(t, "with the same size, time and inode", func(t *testing.T, f *tokensFile) {
		before, err := os.Stat(f.path)
		require.NoError(t, err)
		f.hashes["omar"] = strings.Repeat("ab", 32)
		f.write(f.entries("priya", "omar"))
		require.NoError(t, os.Chtimes(f.path, time.Time{}, before.ModTime()))
		require.Equal(t, []string{"priya"}, f.admitted())
	})
	withFile(t, "renamed into its place", func(t *testing.T, f *tokensFile) {
		next := f.path + ".next"
		require.NoError(t, os.WriteFile(next, []byte(f.entries("omar")), 0o600))
		require.NoError(t, os.Rename(next, f.path))
		require.Equal(t, []string{"omar"}, f.admitted())
	})
	withFile(t, "broken, gone and back", func(t *testing.T, f *tokensFile) {
		both := []string{"priya", "omar"}
		f.write(f.entries("omar")[:20])
		for range 5 {
			require.Equal(t, both, f.admitted())
		}
		require.Equal(t, 1, f.errors(), "one line for each change: %s", f.log.String())
		f.write("")
		require.Equal(t, both, f.admitted())
		require.Equal(t, 2, f.errors())
		require.NoError(t, os.Remove(f.path))
		require.Equal(t, both, f.admitted())
		require.Equal(t, both, f.admitted())
		require.Equal(t, 3, f.errors())
		require.NoError(t, os.Mkdir(f.path, 0o700))
		require.Equal(t, both, f.admitted())
		require.Equal(t, 4, f.errors())
		require.NoError(t, os.Remove(f.path))
		f.write(f.entries("omar"))
		require.Equal(t, []string{"omar"}, f.admitted())
		require.Equal(t, 4, f.errors())
		for _, token := range f.tokens {
			require.NotContains(t, f.log.String(), token)
		}
	})
	withFile(t, "a new token under the old name is the same caller", func(t *testing.T, f *tokensFile) {
		before, refused := check(t, f.checker, f.tokens["priya"])
		require.Nil(t, refused)
		token, grant := access.Mint(access.Grant{Name: "priya"})
		f.tokens["priya"], f.hashes["priya"] = token, grant.SHA256
		f.write(f.entries("priya"))
		require.Equal(t, []string{"priya"}, f.admitted())
		after, refused := check(t, f.checker, token)
		require.Nil(t, refused)
		require.Equal(t, before.Key(), after.Key())
		require.False(t, f.checker.Still(before))
	})
}

// Kubernetes mounts a file as a link to a link to a folder, and swaps the one in the middle.
func TestTokensFileBehindSwappedLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need rights there")
	}
	withFile(t, "swapped", func(t *testing.T, f *tokensFile) {
		dir := t.TempDir()
		for version, text := range map[string]string{"v1": f.entries("priya"), "v2": f.entries("omar")} {
			require.NoError(t, os.Mkdir(filepath.Join(dir, version), 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(dir, version, "tokens.json"), []byte(text), 0o600))
		}
		require.NoError(t, os.Symlink("v1", filepath.Join(dir, "..data")))
		require.NoError(t, os.Remove(f.path))
		require.NoError(t, os.Symlink(filepath.Join(dir, "..data", "tokens.json"), f.path))
		require.Equal(t, []string{"priya"}, f.admitted())
		require.NoError(t, os.Symlink("v2", filepath.Join(dir, "..next")))
		require.NoError(t, os.Rename(filepath.Join(dir, "..next"), filepath.Join(dir, "..data")))
		require.Equal(t, []string{"omar"}, f.admitted())
	})
}

func TestTokensExpire(t *testing.T) {
	withFile(t, "at its time", func(t *testing.T, f *tokensFile) {
		at := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
		f.write(strings.Replace(f.entries("priya"), "}]", `, "expires": "`+at+`"}]`, 1))
		require.Equal(t, []string{"priya"}, f.admitted())
		priya, _ := check(t, f.checker, f.tokens["priya"])
		require.Empty(t, f.checker.Expired())
		time.Sleep(time.Hour)
		_, refused := check(t, f.checker, f.tokens["priya"])
		require.Equal(t, "the token of priya has expired", refused.Reason)
		require.Equal(t, 401, refused.Status)
		require.False(t, f.checker.Still(priya))
		require.Equal(t, []string{"priya"}, f.checker.Expired())
	})
}

func TestRightsOfTokens(t *testing.T) {
	for fields, want := range map[string][]string{
		``:                                       {"look", "find", "set", "send", "…"},
		`"read_only": false,`:                    {"look", "find", "set", "send", "…"},
		`"read_only": true,`:                     {"look", "find"},
		`"tools": ["set", "look"],`:              {"look", "set"},
		`"tools": ["send"], "read_only": true,`:  nil,
		`"read_only": true, "tools": ["find"],`:  {"find"},
		`"tools": [],`:                           nil,
		`"tools": ["look","find","set","send"],`: {"look", "find", "set", "send"},
	} {
		t.Run(fields, func(t *testing.T) {
			token, grant := access.Mint(access.Grant{Name: "priya"})
			path := filepath.Join(t.TempDir(), "tokens.json")
			require.NoError(t, os.WriteFile(path, []byte(`{"tokens": [{`+fields+` "name": "priya", "sha256": "`+grant.SHA256+`"}]}`), 0o600))
			checker := checkerOf(t, access.Config{TokensFile: path})
			caller, refused := check(t, checker, token)
			require.Nil(t, refused)
			require.Equal(t, want, may(caller))
			require.Equal(t, `Bearer realm="kitebase-mcp", error="insufficient_scope"`, checker.Forbid(caller, "send").Challenge)
		})
	}
}
