package main_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// programPath is where the child is, as it tells hosts.
func programPath(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	self, err = filepath.EvalSymlinks(self)
	require.NoError(t, err)
	require.True(t, filepath.IsAbs(self))
	return self
}

func TestVersion(t *testing.T) {
	t.Parallel()
	end := start{args: []string{"version"}}.run(t, "")
	require.Zero(t, end.code)
	require.Empty(t, end.stderr)
	for _, line := range []string{`kitebase-mcp \S+`, `commit +\S+`, `go +go1\.\S+ \S+/\S+`, `protocol +2026-07-28, 2025-11-25, 2025-06-18, .+`} {
		require.Regexp(t, `(?m)^`+line+`$`, end.stdout)
	}
}

func TestHelp(t *testing.T) {
	t.Parallel()
	for _, args := range []string{"--help", "serve --help", "fake --help", "config --help", "config claude-code --help", "version --help"} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			end := start{args: strings.Fields(args)}.run(t, "")
			require.Zero(t, end.code)
			require.Contains(t, end.stdout, "Usage: kitebase-mcp")
			require.Empty(t, end.stderr)
		})
	}
	t.Run("names every setting", func(t *testing.T) {
		t.Parallel()
		end := start{args: []string{"serve", "--help"}}.run(t, "")
		for _, s := range settings() {
			require.Regexp(t, `(?m)^ +--(\[no-\])?`+s.flag+`\b`, end.stdout)
		}
	})
}

func TestConfigClaudeCode(t *testing.T) {
	t.Parallel()
	end := start{args: []string{"config", "claude-code"}}.run(t, "")
	require.Zero(t, end.code)
	require.Equal(t, "claude mcp add kitebase --scope user -- "+programPath(t)+"\n", end.stdout)

	// The secret of whoever asks must not end up in a scroll-back buffer.
	end = start{
		args: []string{"config", "claude-code", "--url", "https://kitebase.example/a b"}, env: []string{"KITEBASE_TOKEN=tok-secret"},
	}.run(t, "")
	require.Zero(t, end.code)
	require.Equal(t, "claude mcp add kitebase --scope user --env 'KITEBASE_URL=https://kitebase.example/a b' "+
		"--env KITEBASE_TOKEN=YOUR-TOKEN -- "+programPath(t)+"\n", end.stdout)
}

func TestConfigClaudeDesktop(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		env  map[string]string
	}{
		"fake": {nil, nil},
		"real": {[]string{"--url", "https://kitebase.example"}, map[string]string{"KITEBASE_URL": "https://kitebase.example", "KITEBASE_TOKEN": "YOUR-TOKEN"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			end := start{args: append([]string{"config", "claude-desktop"}, c.args...)}.run(t, "")
			require.Zero(t, end.code)
			var config struct {
				MCPServers map[string]struct {
					Command string            `json:"command"`
					Args    []string          `json:"args"`
					Env     map[string]string `json:"env"`
				} `json:"mcpServers"`
			}
			require.NoError(t, json.Unmarshal([]byte(end.stdout), &config))
			require.Len(t, config.MCPServers, 1)
			entry := config.MCPServers["kitebase"]
			require.Equal(t, programPath(t), entry.Command)
			require.Equal(t, c.env, entry.Env)

			// What is printed must work as it stands.
			server := start{args: entry.Args}.serve(t)
			require.Equal(t, allTools(), toolNames(t, server))
		})
	}
}

// TestFakeCommand: the fake as a process of its own, and a server that works on it.
func TestFakeCommand(t *testing.T) {
	t.Parallel()
	cmd := start{args: []string{
		"fake", "--addr=127.0.0.1:0", "--keys=false", "--token=tok-1", "--fault=get_ticket=status=503:1", "--fault", "reply_to_customer=lose:1",
	}}.command(t)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	url, found := strings.CutPrefix(strings.TrimSpace(line), "fake Kitebase at ")
	require.True(t, found, line)

	server := start{args: []string{"--url", url, "--token=tok-1", "--attempts=2", "--dedupe=false"}}.serve(t)
	require.Equal(t, 2, server.call("get_ticket", ticket142).attempts(t))
	require.Equal(t, "rpl_002", server.call("reply_to_customer", updateReply).reply(t).ReplyID, "keys are ignored: the lost one went out too")
	require.Equal(t, "denied", start{args: []string{"--url", url}}.serve(t).call("get_ticket", ticket142).kind())

	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Get(url + "/_outbox")
	require.NoError(t, err)
	outbox, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, 2, strings.Count(string(outbox), `"reply_id"`))

	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, cmd.Wait(), "exit code 0")
}
