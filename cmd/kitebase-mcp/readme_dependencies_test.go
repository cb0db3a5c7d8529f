package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// dependency is why a module is required.
type dependency struct {
	why    string   // what for, and why this one
	brings []string // the modules that are in the binary because of it; their size counts as its own
}

// dependencies has a reason for each module that go.mod requires directly.
func dependencies() map[string]dependency {
	return map[string]dependency{
		"github.com/mark3labs/mcp-go": {
			why: "The protocol: messages, revisions, streamable HTTP. Its middleware type is what the layers are made of, so that other servers can use them.",
			brings: []string{
				"github.com/google/jsonschema-go", "github.com/google/uuid", "github.com/spf13/cast",
				"github.com/yosida95/uritemplate/v3", "github.com/santhosh-tekuri/jsonschema/v6",
			},
		},
		"github.com/cenkalti/backoff/v4": {why: "Drives the retries. The waits of calls are our own: full jitter, Retry-After, never past the deadline."},
		"modernc.org/sqlite": {
			why:    "Ranked full-text search of the fake Kitebase, and the ledger in a file. SQLite without cgo: no C compiler, easy to cross-compile.",
			brings: []string{"modernc.org/libc", "modernc.org/mathutil", "modernc.org/memory", "github.com/dustin/go-humanize", "github.com/remyoudompheng/bigfft", "golang.org/x/sys"},
		},
		"github.com/jackc/pgx/v5": {
			why:    "The ledger in PostgreSQL. The driver that is kept, in Go alone.",
			brings: []string{"github.com/jackc/pgpassfile", "github.com/jackc/pgservicefile", "github.com/jackc/puddle/v2"},
		},
		"github.com/VictoriaMetrics/metrics": {
			why:    "Counts calls, and asks the system about the process. Prometheus's own client takes five times as long to initialise, at each start.",
			brings: []string{"github.com/valyala/fastrand", "github.com/valyala/histogram"},
		},
		"github.com/golang-jwt/jwt/v5": {why: "Checks the JWTs of OAuth 2.1 clients: algorithms, signatures and claims are easy to get wrong."},
		"github.com/MicahParks/keyfunc/v3": {
			why:    "Finds the key of a JWT in the issuer's JWKS, and fetches it again when keys are rotated, at a bounded rate.",
			brings: []string{"golang.org/x/time"},
		},
		"github.com/MicahParks/jwkset":                                    {why: "The JWKS that keyfunc looks into, with its rate limit."},
		"github.com/gofrs/flock":                                          {why: "Locks between processes that share a ledger file: one at a time opens it, and a lock that falls free tells a dead owner from a slow one. Also on Windows."},
		"github.com/sony/gobreaker/v2":                                    {why: "The circuits of the example client's sub-agents. Those of the server are their own, since this one reads the clock and takes memory at each call."},
		"github.com/hashicorp/golang-lru/v2":                              {why: "Bounds what is remembered of answers and of calls that failed."},
		"github.com/go-json-experiment/json":                              {why: "Reads Kitebase's answers in less than half the time, and writes the results of tools without reflection. It is encoding/json/v2 of Go 1.27, for older ones."},
		"golang.org/x/sync":                                               {why: "Hands out the places of a tool, in the order in which calls asked for one."},
		"github.com/mattn/go-isatty":                                      {why: "Tells a terminal from a pipe, for the log and for the progress of the example client."},
		"github.com/VictoriaMetrics/easyproto":                            {why: "Writes traces as protobuf, in a small part of the code that its own runtime is, and reads what the collector answers."},
		"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp": {why: "Tests: traces are delivered as it does. Not in the server, which would start more slowly with the gRPC that comes with it."},
		"go.opentelemetry.io/otel":                                        {why: "The names of what a trace holds, and the traceparent header.", brings: []string{"github.com/cespare/xxhash/v2", "github.com/go-logr/stdr"}},
		"go.opentelemetry.io/otel/sdk": {
			why:    "Samples traces, and has them delivered in the background.",
			brings: []string{"go.opentelemetry.io/otel/log", "go.opentelemetry.io/otel/metric"},
		},
		"go.opentelemetry.io/otel/trace":           {why: "Spans.", brings: []string{"go.opentelemetry.io/auto/sdk"}},
		"go.opentelemetry.io/proto/otlp":           {why: "Tests: a collector that reads what was delivered."},
		"google.golang.org/protobuf":               {why: "Tests: a collector that reads what was delivered."},
		"github.com/go-logr/logr":                  {why: "The only way to keep the SDK of OpenTelemetry from writing to standard error by itself."},
		"github.com/anthropics/anthropic-sdk-go":   {why: "The example client with a real Claude; not in the server."},
		"github.com/alecthomas/kong":               {why: "Commands, flags and variables from one struct, from which the tables above are made."},
		"golang.org/x/text":                        {why: "Unicode normal form C, so that the same reply in other bytes is the same reply. The standard library has none."},
		"golang.org/x/net":                         {why: "Bounds the open connections of the HTTP transport (`netutil.LimitListener`)."},
		"github.com/prometheus/common":             {why: "Tests: Prometheus's own parser reads what a scrape gets."},
		"github.com/stretchr/testify":              {why: "Tests: assertions that stop a test (`require`)."},
		"go.uber.org/goleak":                       {why: "Tests: no goroutine is left behind."},
		"pgregory.net/rapid":                       {why: "Tests: properties over generated inputs, with shrinking."},
		"golang.org/x/tools":                       {why: "Tests: golden files in txtar form."},
		"github.com/getkin/kin-openapi":            {why: "Tests: holds the fake and the client to one OpenAPI 3.1 document."},
		"github.com/santhosh-tekuri/jsonschema/v6": {why: "Tests: holds every result to its tool's output schema. mcp-go has it in the binary anyway."},
	}
}

// required is a line of go.mod.
type required struct {
	Path, Version string
	Indirect      bool
}

// dependencyTable has a row for each direct requirement. Sizes are measured by -update only, since they differ a little
// from one system and Go to the next; otherwise those that README.md has are kept.
func dependencyTable(t *testing.T, readme string) string {
	t.Helper()
	var module struct{ Require []required }
	require.NoError(t, json.Unmarshal([]byte(goCommand(t, "mod", "edit", "-json")), &module))
	known, linked := dependencies(), linkedModules(t)
	for path := range known {
		require.True(t, slices.ContainsFunc(module.Require, func(r required) bool { return r.Path == path }), "%s has a reason but is not in go.mod", path)
	}
	size := func(path string) string { return writtenSize(readme, path) }
	if updating() {
		size = measure(t, known)
	}
	rows := [][]string{{"module", "version", "what for, and why this one", "in the binary"}}
	for _, r := range module.Require {
		if r.Indirect {
			continue
		}
		dep, ok := known[r.Path]
		require.True(t, ok, "go.mod requires %s, but readme_dependencies_test.go has no reason for it", r.Path)
		cell := "–"
		if linked[r.Path] && !broughtBy(known, r.Path) {
			cell = size(r.Path)
			require.Regexp(t, `^(<0\.1|\d+\.\d) MB$`, cell, "the size of %s; measure it with -update", r.Path)
		}
		rows = append(rows, []string{code(r.Path), r.Version, dep.why, cell})
	}
	for path := range linked {
		_, direct := known[path]
		require.True(t, direct || broughtBy(known, path), "%s is in the binary, but no dependency is said to bring it", path)
	}
	return table(rows...)
}

func broughtBy(known map[string]dependency, path string) bool {
	for dep := range maps.Values(known) {
		if slices.Contains(dep.brings, path) {
			return true
		}
	}
	return false
}

// linkedModules are the modules, but this, of which the program has packages.
func linkedModules(t *testing.T) map[string]bool {
	t.Helper()
	linked := make(map[string]bool)
	for _, path := range strings.Fields(goCommand(t, "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}", ".")) {
		linked[path] = true
	}
	return linked
}

// writtenSize returns the last cell of a module's row in README.md, or "".
func writtenSize(readme, path string) string {
	row := regexp.MustCompile("(?m)^\\| `" + regexp.QuoteMeta(path) + "` .*\\| ([^|]+) \\|$").FindStringSubmatch(readme)
	if row == nil {
		return ""
	}
	return row[1]
}

// measure builds the program and returns a function that adds up the symbols of a module and of those it brings.
func measure(t *testing.T, known map[string]dependency) func(path string) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "kitebase-mcp")
	goCommand(t, "build", "-o", binary, ".")
	symbols := goCommand(t, "tool", "nm", "-size", binary)
	return func(path string) string {
		total := 0
		for line := range strings.Lines(symbols) {
			// Address, size, kind, name. Only code and data have a place in the file.
			field := strings.Fields(line)
			if len(field) < 4 || !strings.Contains("TtRrDd", field[2]) {
				continue
			}
			if slices.ContainsFunc(append([]string{path}, known[path].brings...), func(module string) bool { return belongs(field[3], module) }) {
				size, err := strconv.Atoi(field[1])
				require.NoError(t, err)
				total += size
			}
		}
		if megabytes := float64(total) / 1e6; megabytes >= 0.05 {
			return fmt.Sprintf("%.1f MB", megabytes)
		}
		return "<0.1 MB"
	}
}

// belongs reports whether a symbol is one of a module: its name begins with the path of a package.
func belongs(symbol, module string) bool {
	rest, found := strings.CutPrefix(symbol, module)
	return found && (strings.HasPrefix(rest, ".") || strings.HasPrefix(rest, "/"))
}

// goCommand runs the go command in this folder and returns what it prints.
func goCommand(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", args...).Output()
	if failed, ok := err.(*exec.ExitError); ok {
		require.NoError(t, err, "go %s: %s", strings.Join(args, " "), failed.Stderr)
	}
	require.NoError(t, err)
	return string(out)
}
