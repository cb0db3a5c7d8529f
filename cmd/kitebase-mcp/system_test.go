package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// These tests are in package main since they ask what the program would do on other systems.

func TestStateDir(t *testing.T) {
	at := func(path string) string {
		abs, err := filepath.Abs(path)
		require.NoError(t, err)
		return abs
	}
	all := map[string]string{"LocalAppData": at("/local"), "HOME": at("/home/priya"), "XDG_STATE_HOME": at("/state")}
	for name, c := range map[string]struct {
		system string
		env    map[string]string
		want   string
	}{
		"windows":            {"windows", all, at("/local")},
		"windows, none":      {"windows", map[string]string{"HOME": at("/home/priya"), "XDG_STATE_HOME": at("/state")}, ""},
		"windows, relative":  {"windows", map[string]string{"LocalAppData": "local"}, ""},
		"macOS":              {"darwin", all, at("/home/priya/Library/Application Support")},
		"linux":              {"linux", all, at("/state")},
		"linux, home":        {"linux", map[string]string{"HOME": at("/home/priya")}, at("/home/priya/.local/state")},
		"linux, relative":    {"linux", map[string]string{"XDG_STATE_HOME": "state", "HOME": at("/home/priya")}, at("/home/priya/.local/state")},
		"linux, nothing set": {"linux", nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, stateDir(c.system, func(name string) string { return c.env[name] }))
		})
	}
}

func TestQuote(t *testing.T) {
	for _, c := range []struct{ system, word, want string }{
		{"linux", "/usr/bin/kitebase-mcp", "/usr/bin/kitebase-mcp"},
		{"linux", "/Users/priya/My Tools/kitebase-mcp", "'/Users/priya/My Tools/kitebase-mcp'"},
		{"linux", "/home/o'neil/kitebase-mcp", `'/home/o'\''neil/kitebase-mcp'`},
		{"linux", "", "''"},
		{"windows", `C:\Users\Priya K\kitebase-mcp.exe`, `"C:\Users\Priya K\kitebase-mcp.exe"`},
		{"windows", `C:\kitebase-mcp.exe`, `"C:\kitebase-mcp.exe"`}, // bash on Windows would eat the backslash
		{"windows", "KITEBASE_URL=https://kitebase.example/?a&b", `"KITEBASE_URL=https://kitebase.example/?a&b"`},
		{"windows", "KITEBASE_TOKEN=YOUR-TOKEN", "KITEBASE_TOKEN=YOUR-TOKEN"},
	} {
		require.Equal(t, c.want, quote(c.system, c.word))
	}
}

func TestReachable(t *testing.T) {
	for addr, want := range map[string]string{
		"127.0.0.1:8090": "127.0.0.1:8090", "localhost:1": "localhost:1", "[::1]:1": "[::1]:1", "10.0.0.7:1": "10.0.0.7:1",
		"0.0.0.0:8090": "127.0.0.1:8090", ":8090": "127.0.0.1:8090", "[::]:8090": "[::1]:8090", "nonsense": "nonsense",
	} {
		require.Equal(t, want, reachable(addr), addr)
	}
}
