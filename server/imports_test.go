package server_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/kitebase/kitebase-mcp/"

// The outside modules whose use is limited.
const (
	mcpGo     = "github.com/mark3labs/mcp-go/"
	backoff   = "github.com/cenkalti/backoff/v4"
	gobreaker = "github.com/sony/gobreaker/v2"
)

// allowed says which of the limited imports a package of this module may have: its own packages by their path, others by
// the names above. A package that is not listed may have none. Imports point down only.
var allowed = map[string][]string{
	"cmd/kitebase-mcp": {"server", "server/doctor", "server/lab", "server/resilience", "server/stdio", "server/web",
		"server/access", "server/audit", "server/tracing", "idempotency", "idempotency/sqlite", "idempotency/postgres", "fakeapi"},
	"server": {mcpGo, "tools", "tools/kitebase", "server/access", "server/audit", "server/metrics", "server/resilience", "server/stdio",
		"server/tracing", "server/web", "idempotency", "fakeapi"},
	"server/metrics":           {"server/resilience"},
	"server/tracing":           {mcpGo, "server/resilience", "server/tracing/otlp"},
	"server/tracing/otlp":      {},
	"server/tracing/tracetest": {},
	"server/access":            {},
	"server/audit":             {},
	"server/access/accesstest": {},
	"server/doctor":            {mcpGo + "client", mcpGo + "mcp", "server", "server/web", "server/access", "server/audit", "tools/kitebase", "idempotency"},
	"server/lab":               {"fakeapi"},
	"server/resilience":        {mcpGo, "idempotency", "server/wording", "tools/legible"},
	"server/simulation":        {},
	"server/stdio":             {mcpGo, "server/wire", "server/wording"},
	"server/web":               {mcpGo, "server/access", "server/wire", "server/wording"},
	"server/wire":              {mcpGo + "mcp"},
	"server/wording":           {},
	"tools":                    {mcpGo, "tools/kitebase", "tools/legible", "idempotency"},
	"tools/legible":            {},
	"tools/kitebase":           {"idempotency"},
	"idempotency":              {},
	"idempotency/sqlite":       {"idempotency", "idempotency/internal/row", "idempotency/internal/groupcommit"},
	"idempotency/postgres":     {"idempotency", "idempotency/internal/row", "idempotency/internal/groupcommit"},

	"idempotency/storetest":            {"idempotency"},
	"idempotency/internal/row":         {"idempotency"},
	"idempotency/internal/groupcommit": {"idempotency"},

	"fakeapi":              {},
	"client_example":       {mcpGo + "client", mcpGo + "mcp", "client_example/agent", "client_example/delegate", "fakeapi"},
	"client_example/agent": {},

	"client_example/delegate": {backoff, gobreaker, "client_example/agent"},
}

// alsoAllowed are the imports of single files.
var alsoAllowed = map[string][]string{
	"server/resilience/retry.go":   {backoff},
	"server/tracing/otlp/retry.go": {backoff},
}

func TestImportsPointDown(t *testing.T) {
	seen := make(map[string]bool)
	eachGoFile(t, func(file string, imports []string) {
		pkg := path.Dir(file)
		seen[pkg] = true
		may, listed := allowed[pkg]
		require.True(t, listed, "%s is not in the table of imports", pkg)
		for _, imported := range imports {
			if !limited(imported) {
				continue
			}
			require.True(t, permits(append(may, alsoAllowed[file]...), imported), "%s must not import %s", file, imported)
		}
	})
	for pkg := range allowed {
		require.True(t, seen[pkg], "%s is in the table of imports but does not exist", pkg)
	}
}

func limited(imported string) bool {
	for _, prefix := range []string{module, mcpGo, backoff, gobreaker} {
		if strings.HasPrefix(imported, prefix) {
			return true
		}
	}
	return false
}

func permits(may []string, imported string) bool {
	for _, entry := range may {
		if imported == module+entry || imported == entry || strings.HasPrefix(entry, mcpGo) && strings.HasPrefix(imported, entry) {
			return true
		}
	}
	return false
}

// eachGoFile calls do with each Go file of the module that is no test, by its slash path from the root.
func eachGoFile(t *testing.T, do func(file string, imports []string)) {
	t.Helper()
	root, err := filepath.Abs("..")
	require.NoError(t, err)
	require.NoError(t, filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if entry.IsDir() {
			if rel == "bench" || strings.HasPrefix(entry.Name(), ".") && rel != "." || entry.Name() == "testdata" {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(rel, ".go") || strings.HasSuffix(rel, "_test.go") {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		var imports []string
		for _, spec := range parsed.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			imports = append(imports, imported)
		}
		do(rel, imports)
		return nil
	}))
}
