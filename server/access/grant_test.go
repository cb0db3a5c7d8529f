package access_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server/access"
)

const hash = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" // of "test"

// Each mistake is named, by line and entry, with what to do. None of the values in it is repeated where it may be a token.
func TestParseRefuses(t *testing.T) {
	entry := func(fields string) string {
		return `{"tokens": [` + "\n" + `{"name": "priya", "sha256": "` + hash + `"` + fields + "}]}"
	}
	for name, c := range map[string]struct{ file, says string }{
		"empty":                {"", `the file is empty; make an entry with: kitebase-mcp token NAME --add FILE, or write {"tokens": []} to let nobody in`},
		"spaces":               {" \n", "the file is empty"},
		"no JSON":              {"{\n\"tokens\": [\n{]}", "line 3: it is no JSON from here on: look for a missing comma, quote or bracket"},
		"cut off":              {"{\n\"tokens\": [", "line 2: it is no JSON"},
		"two documents":        {`{"tokens": []}` + "\n{}", "line 2: it is no JSON"},
		"a list":               {"[]", `it must be {"tokens": [ … ]}`},
		"no list":              {`{"tokens": {}}`, "it must be"},
		"nothing":              {"{}", "it must be"},
		"null":                 {"null", "it must be"},
		"another field":        {`{"tokens": [], "version": 1}`, `there is no field "version"; the file has tokens and nothing else`},
		"two lists":            {`{"tokens": [], "tokens": []}`, `the field "tokens" stands there twice; leave one out`},
		"an entry no object":   {`{"tokens": ["kb_secret"]}`, "line 1: it must be"},
		"unknown field":        {entry(`, "tool": []`), `line 2: priya: there is no field "tool"; an entry has name, sha256, tools, read_only and expires`},
		"another case":         {entry(`, "Tools": []`), `there is no field "Tools"`},
		"a field twice":        {entry(`, "read_only": true, "read_only": false`), `line 2: priya: the field "read_only" stands there twice; leave one out`},
		"a token as a field":   {entry(`, "kb_secret": 1`), `line 2: priya: there is no field of that name, which is not repeated here, since it might be a token; an entry has`},
		"a long field":         {entry(`, "another kb_secret of one": 1`), `there is no field of that name`},
		"a token on top":       {`{"kb_secret": []}`, `there is no field of that name, which is not repeated here, since it might be a token; the file has tokens and nothing else`},
		"a token twice":        {entry(`, "tools": [], "kb_secret": 1, "kb_secret": 1`), "there is no field of that name"},
		"a token for a tool":   {entry(`, "tools": ["kb_secret"]`), "there is no tool of that name, which is not repeated here, since it might be a token; the tools are look"},
		"unknown tool":         {entry(`, "tools": ["delete"]`), `line 2: priya: there is no tool "delete"; the tools are look, find, set, send`},
		"tools null":           {entry(`, "tools": null`), "tools takes a list of names; leave it out for all, and write [] for none"},
		"tools a word":         {entry(`, "tools": "look"`), "tools takes a list of names"},
		"a tool twice":         {entry(`, "tools": ["look", "look"]`), "tools has look twice"},
		"read_only a word":     {entry(`, "read_only": "yes"`), "read_only takes true or false"},
		"read_only null":       {entry(`, "read_only": null`), "read_only takes true or false"},
		"expires a date":       {entry(`, "expires": "2027-01-31"`), "expires takes a time such as 2027-01-31T00:00:00Z; leave it out for never"},
		"expires null":         {entry(`, "expires": null`), "expires takes a time"},
		"no name":              {`{"tokens": [{"sha256": "` + hash + `"}]}`, `line 1: the entry has no name; add one, such as "name": "priya"`},
		"name of two lines":    {`{"tokens": [{"name": "a\nb", "sha256": "` + hash + `"}]}`, "name takes 1 to 64 letters"},
		"a token for the name": {`{"tokens": [{"name": "kb_secret", "sha256": "` + hash + `"}]}`, "line 1: name must not begin with kb_, as tokens do"},
		"no hash":              {`{"tokens": [{"name": "priya"}]}`, "line 1: priya: the entry has no sha256; make one with: kitebase-mcp token NAME"},
		"a token for the hash": {`{"tokens": [{"name": "priya", "sha256": "kb_secret"}]}`, "line 1: priya: sha256 takes the SHA-256 of the token as 64 hex digits, never the token itself"},
		"a hash too short":     {`{"tokens": [{"name": "priya", "sha256": "` + hash[2:] + `"}]}`, "sha256 takes"},
		"no hex":               {`{"tokens": [{"name": "priya", "sha256": "` + strings.Repeat("xy", 32) + `"}]}`, "sha256 takes"},
		"the hash of nothing":  {`{"tokens": [{"name": "p", "sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}]}`, "sha256 is the hash of nothing"},
		"two of a name":        {strings.Replace(entry(""), "]}", ",\n\n"+`{"name": "priya", "sha256": "`+strings.Repeat("ab", 32)+`"}]}`, 1), "line 4: priya: another entry has the same name; rename or remove one"},
		"two of a hash":        {strings.Replace(entry(""), "]}", ",\n"+`{"name": "omar", "sha256": "`+strings.ToUpper(hash)+`"}]}`, 1), "line 3: omar: the entry priya has the same sha256; give each its own token"},
	} {
		t.Run(name, func(t *testing.T) {
			grants, err := access.Parse([]byte(c.file), tools())
			require.ErrorContains(t, err, c.says)
			require.NotContains(t, err.Error(), "kb_secret")
			require.NotContains(t, err.Error(), "\n")
			require.Nil(t, grants)
		})
	}
}

func TestParse(t *testing.T) {
	grants, err := access.Parse([]byte("\xef\xbb\xbf"+`{"tokens": [
		{"name": "all", "sha256": "`+hash+`"},
		{"name": "reports@desk", "read_only": true, "sha256": "`+strings.Repeat("AB", 32)+`", "expires": "2027-01-31T01:00:00+01:00"},
		{"name": "scraper", "sha256": "`+strings.Repeat("cd", 32)+`", "tools": []}
	]}`), tools())
	require.NoError(t, err)
	require.Len(t, grants, 3)
	require.Nil(t, grants[0].Tools)
	require.Equal(t, "2027-01-31T00:00:00Z", grants[1].Expires.UTC().Format(time.RFC3339))
	require.Equal(t, []string{}, *grants[2].Tools)
	none, err := access.Parse([]byte(`{"tokens": []}`), nil)
	require.NoError(t, err)
	require.Empty(t, none)
}

func TestMint(t *testing.T) {
	one, grant := access.Mint(access.Grant{Name: "priya"})
	two, _ := access.Mint(access.Grant{Name: "priya"})
	require.NotEqual(t, one, two)
	require.Regexp(t, `^kb_[A-Za-z0-9_-]{43}$`, one)
	require.NoError(t, grant.Check(tools()))
	require.NotContains(t, grant.JSON(), one)
	require.EqualError(t, access.Grant{Name: "pri ya", SHA256: hash}.Check(nil), "name takes 1 to 64 letters, digits and .-_@, the first a letter or digit")
}

func TestAdd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens.json")
	minted := func(name string) access.Grant { _, g := access.Mint(access.Grant{Name: name}); return g }
	names := func() (all []string) {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		grants, err := access.Parse(data, tools())
		require.NoError(t, err)
		for _, g := range grants {
			all = append(all, g.Name)
		}
		return all
	}
	require.NoError(t, access.Add(path, minted("priya"), tools()))
	require.NoError(t, os.Chmod(path, 0o640))
	require.NoError(t, access.Add(path, minted("omar"), tools()))
	require.Equal(t, []string{"priya", "omar"}, names())
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, "-rw-r-----", info.Mode().String())

	t.Run("a name that is taken", func(t *testing.T) {
		require.EqualError(t, access.Add(path, minted("omar"), tools()),
			"it has an entry named omar already: choose another name, or remove that entry first")
	})
	t.Run("by a link, which stays one", func(t *testing.T) {
		link := filepath.Join(t.TempDir(), "link.json")
		require.NoError(t, os.Symlink(path, link))
		require.NoError(t, access.Add(link, minted("lena"), tools()))
		require.Equal(t, []string{"priya", "omar", "lena"}, names())
		info, err := os.Lstat(link)
		require.NoError(t, err)
		require.NotZero(t, info.Mode()&os.ModeSymlink)
	})
	t.Run("many at once", func(t *testing.T) {
		var all sync.WaitGroup
		added := make([]bool, 20)
		for i := range added {
			all.Go(func() { added[i] = access.Add(path, minted(fmt.Sprintf("n%d", i)), tools()) == nil })
		}
		all.Wait()
		for i, ok := range added {
			if ok {
				require.Contains(t, names(), fmt.Sprintf("n%d", i), "it was said to be added")
			}
		}
	})
	t.Run("a broken file stays as it is", func(t *testing.T) {
		require.NoError(t, os.WriteFile(path, []byte("{"), 0o600))
		require.ErrorContains(t, access.Add(path, minted("new"), tools()), "line 1: it is no JSON")
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, "{", string(data))
		require.NoFileExists(t, path+".new")
	})
}
