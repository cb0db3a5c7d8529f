package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server"
	"github.com/kitebase/kitebase-mcp/tools"
)

// What the packages say of the program is held to the program here. That they work is checked by .packaging/check.
const packaging = root + ".packaging/"

// manifest is the part of the manifest of the bundle for Claude Desktop that has to fit the program.
type manifest struct {
	Name, Version string
	Server        struct {
		Config struct {
			Env       map[string]string
			Overrides map[string]struct{ Env map[string]string } `json:"platform_overrides"`
		} `json:"mcp_config"`
	}
	Fields map[string]struct {
		Type      string
		Default   any
		Sensitive bool
		Min       float64
	} `json:"user_config"`
}

func TestManifest(t *testing.T) {
	const file = packaging + "mcpb/manifest.json"
	text := readText(t, file)
	var m manifest
	require.NoError(t, json.Unmarshal([]byte(text), &m))

	t.Run("tools", func(t *testing.T) {
		list := regexp.MustCompile(`(?s)"tools": \[.*\]\n\}\n$`)
		want := `"tools": ` + manifestTools(t) + "\n}\n"
		if updating() {
			text = list.ReplaceAllLiteralString(text, want)
			require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
		}
		require.Equal(t, want, list.FindString(text), "rewrite it with: go test ./cmd/kitebase-mcp -run Manifest -update")
	})
	// What the host puts in for a field that nobody filled in is its default. From Claude Desktop the server got
	// the text ${user_config.url} for one that had none.
	t.Run("fields", func(t *testing.T) {
		require.Equal(t, map[string]string{
			"KITEBASE_URL": "${user_config.url}", "KITEBASE_TOKEN": "${user_config.token}", "KITEBASE_ATTEMPTS": "${user_config.attempts}",
		}, m.Server.Config.Env)
		require.Len(t, m.Fields, 3)
		require.Equal(t, "", m.Fields["url"].Default)
		require.Equal(t, "", m.Fields["token"].Default)
		require.True(t, m.Fields["token"].Sensitive)
		require.Equal(t, serveDefault(t, "attempts"), string(encoded(t, m.Fields["attempts"].Default)))
		require.Equal(t, 1.0, m.Fields["attempts"].Min)
		for system, override := range m.Server.Config.Overrides {
			require.Nil(t, override.Env, "%s would replace the environment of the others", system)
		}
	})
}

func manifestTools(t *testing.T) string {
	type entry struct {
		Name        string `json:"name"`
		Description string `json:"description"`
	}
	var entries []entry
	for _, tool := range tools.Table(nil) {
		entries = append(entries, entry{tool.Name, tool.Description})
	}
	var text bytes.Buffer
	require.NoError(t, json.Indent(&text, encoded(t, entries), "  ", "  "))
	return text.String()
}

// registryEntry is the part of server.json that has to fit the program.
type registryEntry struct {
	Name, Version string
	Packages      []struct {
		Type       string `json:"registryType"`
		Identifier string
		SHA256     string `json:"fileSha256"`
		Variables  []struct {
			Name, Default string
			Secret        bool `json:"isSecret"`
		} `json:"environmentVariables"`
	}
}

func TestRegistryEntry(t *testing.T) {
	entry := readEntry(t, packaging+"registry/server.json")
	require.Len(t, entry.Packages, 2)
	for _, each := range entry.Packages {
		var names []string
		for _, variable := range each.Variables {
			names = append(names, variable.Name+"=x")
			if variable.Default != "" {
				flag := strings.ToLower(strings.TrimPrefix(variable.Name, envPrefix))
				require.Equal(t, serveDefault(t, flag), variable.Default, variable.Name)
			}
			require.Equal(t, variable.Name == "KITEBASE_TOKEN", variable.Secret, variable.Name)
		}
		require.Empty(t, newEnvironment(names).unknown(commandLine(t)), "these variables are no settings")
	}
	// The registry takes an image only if it says by its label to whom it belongs.
	require.Contains(t, readText(t, packaging+"docker/Dockerfile"), `io.modelcontextprotocol.server.name="`+entry.Name+`"`)
}

// TestBuiltPackages looks at what .packaging/build made in the folder that the variable names.
func TestBuiltPackages(t *testing.T) {
	dir := os.Getenv("TEST_PACKAGES")
	if dir == "" {
		t.Skip("without TEST_PACKAGES; .packaging/check sets it")
	}
	entry := readEntry(t, filepath.Join(dir, "server.json"))
	require.NotEqual(t, "0.0.0", entry.Version)
	for _, each := range entry.Packages {
		require.Contains(t, each.Identifier, entry.Version)
		if each.Type != "mcpb" {
			continue
		}
		require.Contains(t, each.Identifier, "/releases/download/v"+entry.Version+"/", "the tag of the release")
		bundle, err := os.ReadFile(filepath.Join(dir, path.Base(each.Identifier)))
		require.NoError(t, err)
		sum := sha256.Sum256(bundle)
		require.Equal(t, hex.EncodeToString(sum[:]), each.SHA256)
	}
	require.NotEmpty(t, readText(t, filepath.Join(dir, "notes.md")))
}

// readEntry returns a server.json that the registry's schema allows.
func readEntry(t *testing.T, file string) registryEntry {
	t.Helper()
	const schema = "2025-12-11.schema.json"
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(readText(t, packaging+"registry/"+schema)))
	require.NoError(t, err)
	require.NoError(t, compiler.AddResource(schema, document))
	compiled, err := compiler.Compile(schema)
	require.NoError(t, err)

	text := readText(t, file)
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	require.NoError(t, err)
	require.NoError(t, compiled.Validate(value))
	require.Equal(t, document.(map[string]any)["$id"], value.(map[string]any)["$schema"])
	var entry registryEntry
	require.NoError(t, json.Unmarshal([]byte(text), &entry))
	return entry
}

// serveDefault returns the default of a flag of serve.
func serveDefault(t *testing.T, flag string) string {
	t.Helper()
	for _, leaf := range commandLine(t).Leaves(true) {
		if leaf.Name != "serve" {
			continue
		}
		for _, each := range leaf.Flags {
			if each.Name == flag {
				return each.Default
			}
		}
	}
	require.Fail(t, "serve has no flag --"+flag)
	return ""
}

func encoded(t *testing.T, value any) []byte {
	t.Helper()
	text, err := json.Marshal(value)
	require.NoError(t, err)
	return text
}

// TestService: systemd gives the program its settings by a file, and waits for the replies under way.
func TestService(t *testing.T) {
	var names []string
	for _, match := range regexp.MustCompile(`(?m)^#?([A-Z_]+)=`).FindAllStringSubmatch(readText(t, packaging+"systemd/kitebase-mcp.env"), -1) {
		names = append(names, match[1]+"=x")
	}
	require.Contains(t, names, "KITEBASE_TOKEN=x")
	require.Empty(t, newEnvironment(names).unknown(commandLine(t)), "these variables are no settings")

	unit := readText(t, packaging+"systemd/kitebase-mcp.service")
	start := regexp.MustCompile(`(?m)^ExecStart=\S+ (.*)$`).FindStringSubmatch(unit)
	require.NoError(t, parse(strings.Fields(start[1]), nil, streams{out: io.Discard, err: io.Discard}, func(command) error { return nil }))
	stop := regexp.MustCompile(`(?m)^TimeoutStopSec=(\S+)$`).FindStringSubmatch(unit)
	wait, err := time.ParseDuration(stop[1])
	require.NoError(t, err)
	deadline, err := time.ParseDuration(serveDefault(t, "call-deadline"))
	require.NoError(t, err)
	require.Greater(t, wait, server.Drain(deadline), "a reply that has just begun is killed")
	families := regexp.MustCompile(`(?m)^RestrictAddressFamilies=(.*)$`).FindStringSubmatch(unit)
	require.Contains(t, families[1], "AF_UNIX", "PostgreSQL on the same machine is often reached by a socket")
}
