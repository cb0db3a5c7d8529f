package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/fakeapi"
)

// serveOverHTTP starts a server with streamable HTTP and a token, on a help desk of its own.
func serveOverHTTP(t *testing.T, token string) (url string, desk *fakeapi.Server) {
	desk, err := fakeapi.Start("127.0.0.1:0", fakeapi.Config{})
	require.NoError(t, err)
	t.Cleanup(desk.Close)
	cmd := exec.Command(server, "--transport", "http", "--addr", "127.0.0.1:0", "--http-token", token, "--url", desk.URL(), "--ledger", "memory")
	log, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
	served := regexp.MustCompile(`"streamable":"([^"]+)"`)
	for lines := bufio.NewScanner(log); lines.Scan(); {
		if found := served.FindStringSubmatch(lines.Text()); found != nil {
			return found[1], desk
		}
	}
	t.Fatal("the server does not say where it is")
	return "", nil
}

func TestServerOverHTTP(t *testing.T) {
	const token = "let-me-in-0123456789abcdef"
	url, desk := serveOverHTTP(t, token)
	runAt := func(env ...string) result {
		var stdout, stderr bytes.Buffer
		err := run(t.Context(), []string{"-mcp-url", url}, env, strings.NewReader(""), &stdout, &stderr)
		return result{stdout.String(), stderr.String(), err}
	}
	got := runAt()
	require.ErrorContains(t, got.err, "scenario happy: connect to "+url+": say hello: ")
	require.Equal(t, 1, exitCode(got.err))

	got = runAt("MCP_TOKEN=" + token)
	require.NoError(t, got.err)
	require.Equal(t, "DONE (end_turn) after 4 step(s)", lastLineOf(got.stdout), "nobody here can count the emails")
	require.Len(t, desk.Outbox(), 1)
	require.NotContains(t, got.stdout+got.stderr, token)
}

func TestServerByCommand(t *testing.T) {
	_, desk := open(t)
	command := server + " --url " + desk.URL() + " --ledger " + filepath.Join(t.TempDir(), "ledger.db")
	got := runWith(t, "-server", command, "happy", "loop")
	require.NoError(t, got.err)
	require.Regexp(t, `(?m)^happy +DONE \(end_turn\) +4 +- `, got.stdout)
	require.Regexp(t, `(?m)^loop +FAILED \(stuck\) +4 +- `, got.stdout)
	require.Len(t, desk.Outbox(), 1)

	got = runWith(t, "-server", command, "-json")
	require.NoError(t, got.err)
	var told map[string]any
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &told))
	require.Nil(t, told["emails"], "null, not 0")
	require.Nil(t, told["requests"])

	got = runWith(t, "-server", "/no/such/server --flag")
	require.ErrorContains(t, got.err, "scenario happy: start the server /no/such/server: ")
}

// TestOtherServersGetNoKeys: they run with the environment of the user, but the keys of this program are not theirs.
func TestOtherServersGetNoKeys(t *testing.T) {
	a, err := newAbroad("node server.js", "", []string{"HOME=/home/x", "ANTHROPIC_API_KEY=" + secret, "MCP_TOKEN=" + secret, "KITEBASE_URL=http://127.0.0.1:1"})
	require.NoError(t, err)
	require.Equal(t, []string{"node", "server.js"}, a.command)
	require.Equal(t, []string{"HOME=/home/x", "KITEBASE_URL=http://127.0.0.1:1"}, a.env)
}

// TestServerInAPathWithSpaces: it is one of ours, and gets the flags of the scenario.
func TestServerInAPathWithSpaces(t *testing.T) {
	path := filepath.Join(t.TempDir(), "my own server")
	require.NoError(t, os.Symlink(server, path))
	a, err := newAbroad(path, "", nil)
	require.NoError(t, err)
	require.Nil(t, a)
}
